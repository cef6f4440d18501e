"""English words that say the same, and the forms of irregular verbs: read by kb/support, which holds a claim against a text."""

from __future__ import annotations

# Words on one line may replace each other in nearly any sentence.
SYNONYMS = """
right proper appropriate suitable correct
okay ok fine acceptable alright
true correct accurate
nearest closest
tell instruct
extra additional
tackle address
handle process manage
devoted dedicated
extend enhance expand
older earlier
given specified provided supplied
emit write written output
avoid prevent
directly straight
countless uncountable
may might
get obtain retrieve fetch
build construct create
fix repair correct
try attempt
rarely seldom
sometimes occasionally
mainly mostly primarily chiefly
first initial
last final
rest remainder
site website
docs documentation
repo repository
config configuration
param parameter
arg argument
var variable
env environment
dev development
lib library
info information
spec specification
coworker colleague
forbid prohibit ban
clarify explain
kilobyte kb
megabyte mb
gigabyte gb
millisecond ms
stop halt cease
ensure guarantee
describe outline
suggest recommend
worth valuable
likely probable
clear obvious
hide conceal
split divide
join combine merge
link hyperlink
browse navigate
look search
save store
load read
crash fail
default preset
automatic automatically
manual manually
each every
bring brought
take took taken
go went gone
come came
see saw seen
do did done does
keep kept
hold held
leave left
lose lost
meet met
rise rose risen
run ran
sell sold
send sent
sit sat
stand stood
think thought
wear wore worn
win won
break broke broken
draw drew drawn
drive drove driven
eat ate eaten
fly flew flown
know knew known
lie lay lain
read reading
ride rode ridden
sing sang sung
sink sank sunk
speak spoke spoken
swim swam
throw threw thrown
is are was were be been
has have had
child children
person people
begin start commence launch initiate began begun started
end finish conclude terminate complete
build construct erect built constructed building construction
make create produce manufacture made generate
buy purchase acquire bought
get obtain receive gain acquire got received
give provide offer supply grant gave given
show display present demonstrate reveal shown
use employ utilize utilise apply
help assist aid support
allow permit let enable
need require necessary must needs required
want wish desire
keep retain maintain preserve store kept stored
change alter modify adjust
remove delete erase eliminate
add append include insert
find discover locate detect found discovered
choose select pick chose chosen
say state tell mention note explain report said told
call name term title refer called named known
happen occur take-place happened
contain include comprise consist hold feature
large big great huge sizable
small little tiny
fast quick rapid swift speedy
slow sluggish
important significant major key crucial essential main principal chief primary vital
many numerous several multiple various
different various distinct
often frequently commonly regularly usually typically generally normally
also additionally furthermore moreover
about approximately around roughly circa nearly almost
near nearby close beside adjacent
located situated positioned lie lies stand stands sit sits found based
live reside inhabit dwell
work function operate operation operated run
die pass-away death died dead
write author wrote written pen compose authored
found establish founded established set-up create created
lead head led direct
teach instruct taught
child kid children kids
car automobile vehicle
boat ship vessel ferry
doctor physician
error mistake fault bug
part portion section segment piece component
way manner method approach
type kind sort category
place location site spot
area region zone district
country nation state
people persons individuals
person individual human
man men male
woman women female
film movie picture
song track tune
job role position post
goal aim purpose objective target intention
result outcome consequence effect
reason cause
idea concept notion
problem issue difficulty trouble
answer reply respond response
ask request inquire
pay paid payment cost price fee charge costs
cheap inexpensive affordable
expensive costly
free complimentary
happen occur
increase rise grow raise climb grew rose grown
decrease decline fall drop reduce reduction lower lessen shrink
send transmit dispatch sent
visit tour
visitor guest tourist
arrive reach come arrived
leave depart left departed
close shut
open opened opening
clean wash
fix repair mend
break damage
check verify examine inspect test
watch observe monitor
protect guard defend
hurt injure harm injured wound
defeat beat overcome
win won victory
fight battle combat
law rule regulation
illness disease sickness
medicine drug medication
money cash funds
house home residence
road street route
stone rock
forest wood woodland
sea ocean
tall height high
long length
wide width broad
deep depth
heavy weight weigh weighs
old age aged
hot warm
cold cool chilly
wrong incorrect mistaken
right correct accurate
sure certain
easy simple straightforward
hard difficult tough
same identical equal
whole entire complete full
only just solely exclusively merely
because since as due
although though while
before prior
after following later
during throughout
now currently presently today
once formerly previously earlier
between among
under beneath below
over above
inside within
enough sufficient
whenever when
quit exit
return yield give-back
argument parameter
function method
folder directory
value number
variable binding
annual yearly
monthly each-month
daily each-day
journey trip voyage travel
twice double two
half fifty-percent
pair couple
decade ten-years
century hundred-years
fatal deadly lethal
famous well-known renowned
author writer
movie film
actor performer star
sing perform vocals
soldier troop
army military forces
leader head chief
company firm business corporation
worker employee staff
boss manager supervisor
store shop
meal food dish
picture image photo photograph
speak talk
teacher instructor
student pupil
test exam
university college
"""
