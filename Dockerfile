# The toolkit with its parser. `docker build -t bookcoref-data . && docker run --rm -v "$PWD:/work" bookcoref-data list`
FROM python:3.12-slim-bookworm
COPY . /src
RUN pip install --no-cache-dir "/src[annotate]" && rm -rf /src \
    && useradd --create-home --uid 1000 reader && install --directory --owner=reader /work
USER 1000
WORKDIR /work
ENV BOOKCOREF_DATA_HOME=/home/reader/cache
ENTRYPOINT ["bookcoref-data"]
CMD ["--help"]
