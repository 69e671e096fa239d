"""Closed word lists of the embedded backend, written for this project. All lower case."""

from __future__ import annotations

from ...words import word_set
from ...words.honorifics import HONORIFICS

ADJECTIVES_OF_NAMES = word_set("old young little poor dear great")
"""Adjectives that stand before a name as a title does: "poor Anna", "old Martin"."""
TITLES = HONORIFICS | ADJECTIVES_OF_NAMES
PARTICLES = word_set("de du des da di von van der den la le of the d' d’ del della y")
MALE_NOUNS = word_set(
    "man boy gentleman lad fellow husband father brother son uncle nephew grandfather grandson king prince "
    "duke lord earl baron count emperor knight squire monk priest friar bishop pope bachelor widower "
    "bridegroom groom landlord waiter actor host heir master sir papa pa dad chap stepfather godfather "
    "policeman nobleman clergyman horseman huntsman fisherman sportsman countryman tradesman salesman "
    "coachman footman butler parson vicar rector curate sailor soldier officer captain colonel "
    "general lieutenant sergeant major admiral brother-in-law father-in-law son-in-law monsieur lover "
    "postman workman boatman seaman madman englishman frenchman irishman scotchman abbot wizard shepherd "
    "blacksmith carpenter drunkard scoundrel rascal villain "
    "abbé alderman bagman bailiff barber baronet barrister beadle beau boatswain brakeman bridegroom butcher "
    "cabin-boy cabman cardinal cavalier chamberlain chancellor chieftain choirboy cobbler constable coroner "
    "corporal courtier cowboy curé dandy dragoon dustman ensign envoy fireman foreman gaffer gallant "
    "gamekeeper gardener gendarme godson grandad grandpa "
    "grandpapa grandsire gunman hangman helmsman herdsman "
    "hermit hussar kinsman knave laddie layman lordship magician marquis merman midshipman milkman mister "
    "musketeer nobleman oarsman patriarch ploughboy ploughman preacher rogue ruffian schoolboy sexton sire "
    "skipper solicitor spokesman stableboy statesman stepson suitor sultan swain swordsman tailor tinker "
    "turnkey valet verger vicomte viscount warden warrior watchman woodsman yachtsman yeoman youth"
)
FEMALE_NOUNS = word_set(
    "woman girl lady wife mother sister daughter aunt niece grandmother granddaughter queen princess "
    "duchess countess baroness empress widow maid maiden bride landlady hostess heiress mistress madam "
    "ma'am ma’am mamma mama mum stepmother godmother nun governess housekeeper housemaid nurse spinster "
    "witch lass actress waitress gentlewoman noblewoman countrywoman washerwoman sister-in-law "
    "mother-in-law daughter-in-law dame damsel abbess seamstress schoolmistress enchantress heroine "
    "adventuress auntie authoress barmaid belle benefactress bridesmaid chambermaid chaperon charwoman "
    "coquette dairymaid dressmaker duenna goddaughter goddess grand-daughter grandmamma granny housewife "
    "hussy kinswoman kitchenmaid ladyship lassie laundress ma madame mademoiselle maidservant mammy "
    "marchioness matron milkmaid milliner mom mummy murderess needlewoman nursemaid nymph parlourmaid "
    "patroness poetess policewoman priestess saleswoman schoolgirl sempstress shepherdess songstress "
    "sorceress stepdaughter stewardess viscountess wench workwoman"
)
NEUTRAL_NOUNS = word_set(
    "child baby infant person friend companion cousin servant doctor physician surgeon lawyer attorney "
    "teacher schoolmaster pupil student stranger visitor guest neighbour neighbor prisoner orphan guardian "
    "tutor clerk secretary merchant farmer miller ferryman author writer poet painter artist musician "
    "patient owner murderer thief beggar creature darling dear enemy rival partner speaker narrator "
    "traveller traveler wretch angel devil fool detective inspector magistrate judge governor president "
    "minister ambassador chief leader hero cook scholar parent sweetheart one other latter former dearest "
    "fiancée fiancé professor superintendent hunter trader chaplain ghost monster "
    "accomplice accountant accuser admirer adversary agent ally anarchist ancestor antagonist apostle "
    "apprentice architect assailant assassin associate astronomer attendant auctioneer avenger baker bandit "
    "banker barbarian being believer benefactor betrothed blockhead boarder bookseller botanist brat brewer "
    "bride-elect brigand broker brute buffoon bully burglar bystander caller candidate cannibal capitalist "
    "captive cashier champion chemist citizen classmate client colleague colonist commander commissioner "
    "composer comrade conductor confidant confidante conqueror convict correspondent courier coward creator "
    "creditor criminal cripple critic culprit customer dancer dealer debtor defendant delegate deliverer "
    "dentist dependant dependent deputy descendant diplomat diplomatist director disciple dramatist driver "
    "drover druggist dunce dwarf economist editor elder eldest emigrant employee employer engineer essayist "
    "excellency executioner executor exile fellow-traveller financier first-born foe foreigner foundling "
    "fugitive gambler gamester gaoler genius geologist gipsy glutton godchild goldsmith graduate grandchild "
    "grocer guard guide gypsy hearer heathen herbalist heretic highness historian hostage hypocrite idiot "
    "imbecile immigrant imp impostor indian individual infidel informer innkeeper instructor interlocutor "
    "intruder invalid inventor islander jailer jester "
    "jew jeweller journalist journeyman juror keeper laborer "
    "labourer lackey landowner lecturer liar listener lodger looker-on lunatic majesty maker manager maniac "
    "marshal martyr mathematician menial mercer messenger midwife millionaire miser missionary monarch "
    "mulatto native naturalist negro new-comer newcomer novelist novice observer oculist offender official "
    "onlooker outcast outlaw outsider overseer paralytic passenger passer-by patriot patron pauper peasant "
    "performer persecutor personage philanthropist philosopher photographer pianist pilgrim pioneer pirate "
    "plaintiff planter player playfellow playmate playwright politician porter practitioner preceptor "
    "predecessor printer prophet proprietor protector protégé protégée publisher pursuer quadroon reader "
    "rebel reformer registrar relation relative rescuer revolutionist rider robber ruler sage savage savior "
    "saviour schoolfellow scientist sculptor senator sentinel sentry settler sheriff shopkeeper simpleton "
    "singer sinner skipper slave sleeper smuggler snob socialist sovereign spectator spendthrift spy "
    "stationer stepchild steward successor sufferer swindler tenant terrorist tormentor townsman traitor "
    "tramp trooper trustee twin tyrant upstart urchin usher vagabond vagrant veteran victim victor villager "
    "violinist waif warder wayfarer weaver wight witness wizard worker youngest youngster"
)
ANIMALS = word_set(
    "dog cat horse mare pony donkey mule cow bull calf ox sheep lamb ram goat pig sow boar hen cock rooster "
    "duck goose bird raven crow parrot owl rat mouse "
    "rabbit hare fox wolf bear lion tiger elephant monkey ape "
    "puppy kitten hound mastiff spaniel terrier stallion colt beast animal"
)
"""Animals are characters in some novels, and "he" in many."""
PERSON_NOUNS = MALE_NOUNS | FEMALE_NOUNS | NEUTRAL_NOUNS | ANIMALS
CALLINGS = word_set(
    "accountant actor actress admiral agent alderman ambassador apothecary apprentice architect artist "
    "attendant attorney auctioneer author bagman bailiff baker banker barber bargeman barmaid barman "
    "baronet barrister bartender beadle blacksmith boatman bookseller botanist brewer brigand broker "
    "burglar butcher butler bystander cabman captain cardinal caretaker carpenter carrier cashier "
    "chambermaid chaplain charwoman chauffeur chemist clergyman clerk coachman cobbler colonel concierge "
    "conductor constable cook coroner corporal critic croupier curate dairymaid dentist detective doctor "
    "doorkeeper draper driver drummer emissary engineer executioner farmer ferryman fireman fisherman "
    "footman gamekeeper gaoler gardener gendarme governess grocer groom guard guide hangman historian "
    "hostess hostler housekeeper housemaid huntsman innkeeper inspector jailer jeweller journalist judge "
    "keeper kitchenmaid laborer labourer landlady landlord laundress lawyer lieutenant magistrate maid "
    "maidservant manager mariner matron mechanic merchant messenger midshipman milkmaid miller milliner "
    "miner minister missionary musician newcomer notary nun nurse nursemaid officer onlooker painter "
    "parlourmaid parson passenger pauper peasant peddler pedlar philosopher photographer physician pilot "
    "pirate ploughman poet policeman porter postman postmistress preacher priest printer prisoner professor "
    "proprietor publisher railwayman rector reporter runner sailor salesman schoolmaster schoolmistress "
    "sculptor seaman seamstress secretary sentinel sentry sergeant servant sexton shepherd sheriff "
    "shoemaker shopkeeper shopman skipper smith soldier solicitor steward stewardess stranger subaltern "
    "superintendent surgeon tailor teacher tinker tobacconist trader tradesman tramp traveller turnkey "
    "tutor undertaker usher valet verger vicar waiter waitress warder watchman weaver workman"
)
"""Livings: "the surgeon" means somebody with a name only if the book says that he is one."""
_ALIKE = (
    "attorney barrister lawyer notary solicitor", "apothecary doctor physician surgeon",
    "clergyman curate minister parson preacher priest rector vicar", "gaoler jailer turnkey warder",
    "innkeeper landlord", "concierge doorkeeper porter", "constable gendarme officer policeman",
    "chambermaid housemaid maid maidservant parlourmaid servant", "mariner sailor seaman",
    "cabman coachman driver", "schoolmaster teacher tutor", "artist painter",
)  # fmt: skip
LIVING = {word: words.split()[0] for words in _ALIKE for word in words.split()}
"""Livings that one person may be called by ("Mr. Hill, a surgeon", "the doctor") -> the first of them."""
VOICES = word_set("voice voices tone tones accents")
CHILDREN = word_set("boy girl child lad lass infant baby schoolboy schoolgirl urchin")
GIRLS = word_set("girl lass schoolgirl")
GROWN = word_set("gentleman lady man woman gentlewoman widow widower husband wife")
STYLES = word_set(
    "lordship ladyship majesty highness excellency worship honour honor grace reverence eminence"
)
"""With "your" they mean the person spoken to."""
TITLE_NOUNS = {
    "doctor": "dr",
    "physician": "dr",
    "captain": "captain",
    "colonel": "colonel",
    "major": "major",
    "general": "general",
    "professor": "professor",
    "count": "count",
    "countess": "countess",
    "prince": "prince",
    "princess": "princess",
    "king": "king",
    "queen": "queen",
    "baron": "baron",
    "duke": "duke",
    "duchess": "duchess",
    "squire": "squire",
    "parson": "parson",
    "lieutenant": "lieutenant",
    "sergeant": "sergeant",
    "inspector": "inspector",
    "aunt": "aunt",
    "uncle": "uncle",
    "judge": "judge",
    "bishop": "bishop",
    "admiral": "admiral",
    "marquis": "marquis",
    "abbé": "abbé",
    "nurse": "nurse",
    "father": "father",
    "friar": "friar",
    "lady": "lady",
    "lord": "lord",
}
"""Nouns by which a bearer of the title is called: "the doctor" for Dr. Manette."""

VOCATIVE_NOUNS = word_set(
    "sir madam ma'am ma’am dear friend fellow boy girl child darling love lord lady mamma papa mother "
    "father aunt uncle cousin sister brother dearest son lad miss master comrade "
    "boss brother-in-law captain colonel dad doctor friend gentleman grandmamma grandpapa granny husband "
    "laddie lass lassie lieutenant madame mademoiselle mamma monsieur mum neighbour nephew niece nurse papa "
    "parson professor sergeant sire squire wife mistress missis missus guv'nor"
)
PLAIN_VOCATIVES = word_set(
    "sir sire madam ma'am ma’am miss dear dearest darling love friend fellow boy girl child lad lass laddie "
    "lassie comrade lady mistress missis missus guv'nor"
)
"""Vocatives that say nothing of the one who is spoken to, but that he or she is."""

SPEECH_VERBS = word_set(
    "say says said saying ask asks asked asking reply replies replied replying answer answers answered "
    "answering cry cries cried crying exclaim exclaims exclaimed exclaiming whisper whispers whispered "
    "murmur murmured murmurs mutter muttered mutters shout shouted shouts return returned rejoin rejoined "
    "respond responded retort retorted observe observed remark remarked add added continue continued "
    "repeat repeated inquire inquired enquire enquired demand demanded declare declared announce announced "
    "call called begin began resume resumed interpose interposed interrupt interrupted protest protested "
    "sigh sighed sob sobbed gasp gasped stammer stammered growl growled scream screamed shriek shrieked "
    "laugh laughed suggest suggested explain explained admit admitted agree agreed insist insisted urge "
    "urged warn warned command commanded order ordered beg begged plead pleaded pursue pursued proceed "
    "proceeded conclude concluded think thought quoth roar roared bellow bellowed snap snapped persist "
    "persisted assent assented ejaculate ejaculated falter faltered go goes went tell told reason reasoned "
    "object objected assure assured confess confessed groan groaned hiss hissed drawl drawled yell yelled "
    "bawl bawled chuckle chuckled nod nodded smile smiled shake shook grumble grumbled snarl snarled "
    "vociferate vociferated acquiesce acquiesced echo echoed breathe breathed finish finished put wonder "
    "wondered speak spoke propose proposed hint hinted affirm affirmed "
    "acknowledged adding advised allowed apologised apologized bade barked besought bid boomed challenged "
    "chimed chuckling coaxed commented complained conceded confided consoled continuing contradicted "
    "corrected counselled countered croaked crowed decided denied drawled encouraged enjoined entreated "
    "expostulated giggled grinned grunted hazarded hollered howled implored informed jeered joked lamented "
    "laughing lisped maintained moaned mocked murmuring "
    "mused muttering panted piped prayed promised prompted "
    "pronounced quavered queried questioned rapped recommended reflected reiterated related reminded "
    "remonstrated reproached requested revealed roared sang scoffed scolded screeched shouting shrilled "
    "simpered sneered sniffed snorted soothed spluttered sputtered squeaked stated stuttered submitted swore "
    "taunted teased testified thanked threatened thundered twittered ventured volunteered vowed wailed "
    "warbled welcomed wept wheezed whined whispering yawned "
    "blurted burst broke interjected opined supplied seconded whimpered questioned rambled hastened inquires "
    "barks mumbled mumbles chorused cooed crooned drivelled faltering hummed hooted intoned invited jested "
    "lied nagged narrated objurgated offered opines pled pointed pressed quipped quoted ranted rasped "
    "recalled reckoned recited recollected regretted remembered reported resolved rumbled sermonised shot "
    "soliloquised soliloquized specified squealed started stipulated storms stormed surmised theorised "
    "trilled tut-tutted uttered wondering yelped calling repeating whispering ended "
    "sobbing sighing gasping stammering roaring yelling growling suggesting explaining protesting inquiring "
    "enquiring demanding returning insisting moaning groaning wailing observing remarking exclaiming "
    "declaring muttering mumbling announcing begging pleading rejoining"
)

SPEECH_NOUNS = word_set(
    "reply answer rejoinder remark response exclamation observation question cry retort greeting comment "
    "inquiry enquiry words reasoning salutation explanation thought conclusion verdict response order "
    "suggestion advice criticism protest objection announcement summary warning challenge welcome "
    "remarks questions comments exclamations answers replies"
)

PLACES = word_set(
    "street road lane house hall park castle abbey farm inn tavern court square place church chapel bridge "
    "hill mountain river creek island county city town village station hotel school college university "
    "club bank company office lodge manor cottage villa avenue gardens harbour bay lake forest wood gate "
    "tower terrace arms row alley palace priory grange estate mill ranch"
)

MALE_FIRST = word_set(
    "carlo enrico filippo gino giovanni giuseppe gus lorenzo luigi marco mario monty paolo pietro reggie "
    "ronald ronnie ronny sammy stefan teddy "
    "aaron abel abraham adam adolphus adrian alan albert alec alexander alexei alexey alfred algernon allan "
    "ambrose amos amyas andrew angus anthony antoine antonio archibald archie arnold arthur augustus aubrey "
    "barnabas barnaby bartholomew basil ben benjamin bernard bertie bertram bill billy bob bobby boris "
    "bruce caleb calvin carl casper cecil cedric charles charley charlie chester christian christopher "
    "clarence claude clement clive clym colin conrad cornelius cuthbert cyril cyrus dan daniel danny david "
    "dennis derek dick diggory dmitri dominic donald douglas duncan ebenezer edgar edmond edmund edward "
    "edwin eli elijah elliot emanuel emil ephraim eric ernest esau eugene eustace evan ezra felix ferdinand "
    "fitzwilliam francis frank franklin fred frederick fritz fyodor gabriel gaston geoffrey george gerald "
    "gideon gilbert giles godfrey gordon graham gregory guy hal hamilton hank hans harold harry harvey "
    "hector henri henry herbert herman hezekiah hiram horace horatio howard hubert hugh hugo humphrey "
    "ichabod ignatius ike ilya ira isaac isaiah israel ivan jabez jack jacob jacques jake james jarvis "
    "jason jasper jean jeff jeffrey jem jeremiah jeremy jerome jerry jesse jim jimmy job joe joel john "
    "johnny jonas jonathan jos joseph joshua josiah judah jude jules julian julius justin karl kenneth "
    "lambert lancelot laurence laurie lawrence leo leon leonard leopold lester levi lewis lionel louis "
    "lucas luke luther magnus malcolm marcus marius mark marmaduke martin matt matthew maurice max michael "
    "mikhail miles mitya mordecai moses mortimer nat nathan nathaniel ned neil newman nicholas nick nicolas "
    "nikolai noah noel norman obadiah oliver oscar osmond oswald otto owen patrick paul percival percy "
    "peter phil philip phineas pierre pip quentin ralph randolph raoul raymond rawdon reginald reuben "
    "richard robert robin roderick rodney roger roland rollo rowland rudolf rupert russell sam samson "
    "samuel saul sebastian septimus seth sidney silas silvester simeon simon solomon stanley stephen steve "
    "sylvester ted terence thaddeus theodore thomas tim timothy titus tobias toby tom tommy tony trevor "
    "tristram ulrich uriah valentine victor vincent vivian vladimir walter warren wilfred wilhelm "
    "will william willie wilson winston zachary"
)
FEMALE_FIRST = word_set(
    "francesca giulia "
    "abigail ada adela adelaide adele adeline agatha "
    "agnes alexandra alice alicia amanda amelia amy anastasia "
    "angela angelica anita ann anna anne annette annie antoinette antonia arabella aurelia aurora barbara "
    "beatrice becky belinda bella bertha bess bessie beth betsey betsy betty biddy blanche brenda bridget "
    "camilla carla carlotta caroline carrie catharine catherine cathy cecilia celia charity charlotte "
    "chloe christina clara clarissa claudia clementina constance constantia cora cordelia cornelia cosette "
    "cynthia daisy deborah delia diana dinah dolly dora dorcas doris dorothea dorothy edith edna effie "
    "eileen elaine eleanor elena elfrida elinor eliza elizabeth ella ellen elsie emilia emily emma emmeline "
    "ernestine estella esther ethel etta eugenia eunice eustacia eva evangeline eve evelina evelyn fanny "
    "felicia flora florence frances freda gabrielle genevieve georgiana georgina geraldine gertrude gladys "
    "gloria grace greta gretchen gwendolen hannah harriet harriett hatty helen helena henrietta hermione "
    "hester hetty hilda honor honoria hope ida imogen ines irene iris isabel isabella isabelle ivy jane "
    "janet jean jemima jenny jessica jessie jo joan joanna josephine joyce judith judy julia julie juliet "
    "justine kate katharine katherine kathleen katie katy kitty laura lavinia lena leonora letitia letty "
    "lilian lilly lily linda lizzie lizzy lois lola lottie louisa louise lucetta lucia lucie lucilla lucinda "
    "lucy lydia mabel madeleine madeline maggie malvina marcella marcia margaret margery maria marian "
    "mariana marianne marie marion marjorie martha mary mathilda matilda maud maude may meg melissa mercy "
    "mildred millicent minna minnie miranda miriam moll molly "
    "mollie mona muriel myra nan nancy naomi nastasya "
    "natalie natasha nell nellie nelly nettie nina nora "
    "norah olga olive olivia ophelia pamela pansy patience "
    "patty paula pauline pearl peggy penelope phoebe phyllis pleasant polly priscilla prudence prue rachel "
    "rebecca rhoda rosa rosalie rosalind rosamond rosanna rose rosemary rosie rowena roxana roxy ruby ruth "
    "sabina sally sara sarah selina sibyl sonia sophia sophie sophronia stella sue susan susanna susannah "
    "susie sybil sylvia tabitha teresa tess thea "
    "theodora theresa thomasin tilly tina ursula valentine valeria "
    "venetia vera veronica victoria viola violet virginia vivien wilhelmina winifred zoe"
)
FIRST_NAMES = MALE_FIRST | FEMALE_FIRST

NICKNAMES = {
    "abigail": "abby nabby", "abraham": "abe", "adelaide": "addie", "agnes": "aggie", "albert": "bertie al",
    "alexander": "alec aleck sandy sasha", "alfred": "alf fred", "alice": "allie", "amelia": "emmy milly",
    "andrew": "andy", "ann": "annie nancy nan", "anne": "annie nancy nan", "anna": "annie nan",
    "anthony": "tony", "antonia": "tony", "archibald": "archie", "arthur": "art", "augustus": "gus gussy",
    "barbara": "babs", "bartholomew": "bart", "beatrice": "bee bea trix", "benjamin": "ben benny",
    "bertha": "bertie", "bridget": "biddy", "caroline": "carrie caddy",
    "catherine": "kitty kate cathy katy cat",
    "catharine": "kitty kate cathy", "katherine": "kitty kate kathy katy", "charles": "charley charlie",
    "charlotte": "lottie", "christopher": "kit chris", "clara": "clary", "clarissa": "clary",
    "constance": "connie", "cornelius": "corny", "daniel": "dan danny", "david": "davy dave",
    "deborah": "debby", "dmitri": "mitya", "dorothea": "dodo dolly thea", "dorothy": "dolly dot dotty",
    "ebenezer": "eben", "edith": "edie", "edmund": "ned ted", "edward": "ned ted teddy eddy eddie",
    "eleanor": "nell nelly ellen", "elinor": "nell nelly", "elizabeth": "lizzy lizzie eliza betsy betsey "
    "betty bess bessie beth liza libby", "ellen": "nelly nell nellie", "emily": "em emmy", "emma": "em",
    "esther": "essie hetty", "ezekiel": "zeke", "florence": "flo", "frances": "fanny", "francis": "frank",
    "frederick": "fred freddy", "gabriel": "gabe", "george": "georgie geordie", "georgiana": "georgy georgie",
    "gerald": "gerry", "gilbert": "gil", "gregory": "greg", "hannah": "nan", "harold": "harry hal",
    "harriet": "hatty hattie", "helen": "nell nelly lena", "henrietta": "hetty etta",
    "henry": "harry hal hank", "herbert": "bertie", "hester": "hetty", "isaac": "ike",
    "isabella": "bella belle",
    "jacob": "jake", "james": "jim jimmy jem jamie", "jane": "jenny janie", "jemima": "mima",
    "jeremiah": "jerry", "john": "jack johnny jock", "jonathan": "jon", "joseph": "joe joey jos",
    "josephine": "jo josie", "joshua": "josh", "judith": "judy", "julia": "julie", "laurence": "larry laurie",
    "lawrence": "larry laurie", "leonard": "len", "letitia": "letty", "louisa": "lou loo", "lucy": "lu",
    "margaret": "maggie meg peggy daisy madge margery", "maria": "molly polly", "martha": "patty matty",
    "mary": "molly polly mollie may", "mathilda": "tilly matty", "matilda": "tilly matty",
    "matthew": "mat matt", "michael": "mick mike", "mildred": "milly", "nathaniel": "nat nathan",
    "nicholas": "nick", "oliver": "noll", "patrick": "pat paddy", "penelope": "penny", "peter": "pete",
    "philip": "phil pip", "priscilla": "prissy", "prudence": "prue", "rachel": "ray", "rebecca": "becky",
    "reginald": "reggie", "richard": "dick dicky rick", "robert": "bob bobby rob robin", "rosamond": "rosy",
    "rosanna": "rosy", "samuel": "sam sammy", "sarah": "sally", "sophia": "sophy sophie", "stephen": "steve",
    "susan": "sue susie sukey", "theodore": "ted theo laurie", "theresa": "tess", "thomas": "tom tommy",
    "timothy": "tim", "victoria": "vicky", "virginia": "ginny", "walter": "wat wally", "wilhelmina": "mina",
    "william": "will bill billy willie willy", "winifred": "winnie",
}  # fmt: skip
"""First name -> nicknames, as a string of words."""
