"""The report's looks and its one small script, as the text that goes into the page. Knows no record.

Runs have the Okabe-Ito hues and slices Paul Tol's "muted" ones: both sets stay apart for colour-blind eyes; each is
darkened or lightened to a contrast of about 3 : 1 or more with its ground (WCAG 1.4.11).
"""

from __future__ import annotations

import base64
import hashlib

LIGHT = """--ground:#fbfbfa;--card:#fff;--ink:#1b1f24;--soft:#5a636e;--rule:#dfe2e6;--grid:#e9ebee;--track:#eceef1;
--link:#0a58a6;--focus:#0a58a6;--mark:#fff4cc;--better:#0067a3;--worse:#bd4300;--equal:#6b7480;
--r0:#0067a3;--r1:#bd4a00;--r2:#00795a;--r3:#a03f86;--r4:#8a6100;--r5:#4b5563;
--s0:#2f8f80;--s1:#882255;--s2:#86862b;--s3:#4b3ba8;--s4:#c25565;--s5:#117733;--s6:#6b7480;"""
DARK = """--ground:#12151a;--card:#1a1f26;--ink:#e8eaed;--soft:#a3adb8;--rule:#323943;--grid:#2a3038;--track:#2b323b;
--link:#7cc0ff;--focus:#7cc0ff;--mark:#4a4020;--better:#5cb3ef;--worse:#ff9860;--equal:#98a2ae;
--r0:#5cb3ef;--r1:#ff9860;--r2:#3fc79d;--r3:#e48fc9;--r4:#e3b54b;--r5:#b8c2cd;
--s0:#59c4b2;--s1:#e581b3;--s2:#c7c75c;--s3:#a79df5;--s4:#f29dab;--s5:#6fcb87;--s6:#98a2ae;"""

COLOURS = "".join(f".r{n}{{--c:var(--r{n})}}" for n in range(6)) + "".join(
    f".s{n}{{--c:var(--s{n})}}" for n in range(7)
)

RULES = """
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","Noto Sans KR","Apple SD Gothic Neo",sans-serif;font-variant-numeric:tabular-nums}
main,header,footer{max-width:1120px;margin:0 auto;padding:0 24px}
header{padding-top:36px}
h1{font-size:30px;line-height:1.2;margin:0 0 4px;letter-spacing:-.02em;overflow-wrap:anywhere}
h2{font-size:20px;line-height:1.3;margin:0 0 2px;letter-spacing:-.01em}
h3{font-size:14px;margin:20px 0 6px}
p{margin:0 0 12px}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:3px}
.soft,.note{color:var(--soft)}
.note{max-width:74ch;font-size:14px;margin-bottom:16px}
.eyebrow{font-size:12px;letter-spacing:.08em;text-transform:uppercase;color:var(--soft);margin:0 0 6px}
.mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em}
section{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:22px 24px 24px;margin:20px 0}
nav{margin:18px 0 0;font-size:14px;display:flex;flex-wrap:wrap;gap:4px 18px}
nav a{text-decoration:none}nav a:hover{text-decoration:underline}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:22px 0 0}
.tile{min-width:0;background:var(--card);border:1px solid var(--rule);border-top:4px solid var(--c);border-radius:10px;
padding:12px 16px 14px;max-width:400px}
.tile b{display:block;font-size:30px;line-height:1.2;letter-spacing:-.02em}
.tile .name{font-weight:600;display:flex;gap:7px;align-items:center;overflow-wrap:anywhere}
.tile .soft{font-size:13px}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:10px 24px;margin:20px 0 0}
.facts .broad{grid-column:span 2}
.facts dt{font-size:12px;color:var(--soft)}
.facts dd{margin:0;overflow-wrap:anywhere}
.verdict{border-left:4px solid var(--c);padding:8px 14px;margin:18px 0 0;background:var(--card);border-radius:4px}
.better{--c:var(--better)}.worse{--c:var(--worse)}.equal{--c:var(--equal)}
b.better,b.worse,td.better,td.worse{color:var(--c);font-weight:600}
svg{display:block;overflow:visible}
svg.key{display:inline-block;flex:none;vertical-align:-1px}
svg.row{min-width:110px}
svg.chart{width:100%;height:auto}
svg text{font-size:12px;fill:var(--soft)}
svg .name{fill:var(--ink)}
svg .end{text-anchor:end}svg .middle{text-anchor:middle}svg .start{text-anchor:start}svg .strong{font-weight:600}
.grid{stroke:var(--grid);stroke-width:1}
.axis,.zero{stroke:var(--soft);stroke-width:1}
.whisker line{stroke:var(--c);stroke-width:1.75;stroke-linecap:round}
.dot{fill:var(--c);stroke:var(--card);stroke-width:1}
.ring{fill:none;stroke:var(--c);stroke-width:2}
.fill,.skyline rect{fill:var(--c)}
.skyline a:hover rect{opacity:.65}
.track{fill:var(--track)}
.sand{fill:var(--c);fill-opacity:.42}
.line{fill:none;stroke:var(--c);stroke-width:2.25;stroke-linejoin:round}
.band{fill:var(--c);fill-opacity:.11}
.dash1{stroke-dasharray:7 3}.dash2{stroke-dasharray:2 3}.dash3{stroke-dasharray:8 3 2 3}
.p50{stroke:var(--ink);stroke-width:1.75}.p95{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:3 3}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;margin:6px 0 0;padding:0;list-style:none}
.legend li{display:flex;align-items:center;gap:6px}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:22px 32px}
figure{margin:0}.sky{margin-top:18px}figure p.soft{font-size:13px;margin:8px 0 0}
figcaption{font-weight:600;font-size:14px;margin-bottom:6px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;font-weight:600;font-size:14px;padding-bottom:6px}
th,td{padding:7px 10px;border-bottom:1px solid var(--rule);text-align:right;vertical-align:middle;font-weight:400}
thead th{font-size:12.5px;color:var(--soft);font-weight:600;vertical-align:bottom;white-space:nowrap}
th:first-child,td.words{text-align:left;padding-left:0}
tbody th{font-weight:500}
tbody tr:last-child>*{border-bottom:0}
td:last-child{padding-right:0}
td small,th small{display:block;color:var(--soft);font-size:12px;white-space:nowrap;font-weight:400}
td.best b::after{content:" ★";color:var(--link);font-size:11px;vertical-align:2px}
td b{font-weight:500}td.best b{font-weight:700}
.plot{width:30%;min-width:130px}thead th.plot{text-align:center}
.pair{display:grid;grid-template-columns:auto minmax(40px,1fr);gap:10px;align-items:center}
.slices td,.groups td{text-align:left}.slices th:first-child,.groups th:first-child{width:20%}.slices thead th,.groups thead th{text-align:left}
.wide+.wide,.wide+div{margin-top:22px}
.wide{overflow-x:auto;padding:0 5px;margin-left:-5px;margin-right:-5px}
details>summary{cursor:pointer}
.more{margin-top:14px}.more>summary{color:var(--link);font-size:14px;padding:4px 0}
.tools{display:flex;flex-wrap:wrap;gap:8px 14px;margin:18px 0 4px;font-size:14px}
.tools[hidden]{display:none}
.tools label{display:flex;gap:7px;align-items:center;color:var(--soft)}
.tools input,.tools select{font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--rule);
border-radius:7px;padding:5px 9px;max-width:100%}
.queries{list-style:none;margin:14px 0 0;padding:0}
.queries>li{border-top:1px solid var(--rule)}
.queries>li[hidden]{display:none}
.queries summary{display:grid;grid-template-columns:minmax(0,1fr) minmax(130px,30%);gap:4px 20px;align-items:center;
padding:9px 0;list-style:none}
.queries summary::-webkit-details-marker{display:none}
.queries summary:hover .ask{color:var(--link)}
.ask{overflow-wrap:anywhere;font-weight:500;display:block}
.ask::before{content:"▸";display:inline-block;width:16px;color:var(--soft);font-weight:400}
details[open]>summary .ask::before{content:"▾"}
.about{font-size:12px;color:var(--soft);padding-left:16px;display:flex;flex-wrap:wrap;gap:2px 10px}
.about>*{overflow-wrap:anywhere;min-width:0}
.tag{display:inline-flex;gap:5px;align-items:center}
.tag::before{content:"";width:8px;height:8px;border-radius:2px;background:var(--c)}
.trouble{color:var(--worse);font-weight:600}
.minis{display:grid;gap:1px;font-size:12px}
.mini{display:grid;grid-template-columns:minmax(0,1fr) 40px;gap:8px;align-items:center}
.mini>span{text-align:right}
svg.thin{min-width:0}
.looks{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,270px),1fr));gap:14px 26px;
padding:4px 0 18px 16px;font-size:13.5px;scroll-margin-top:70px}
.look{min-width:0;border-top:3px solid var(--c);padding-top:8px}
.look h3{margin:0 0 4px;display:flex;gap:7px;align-items:center;overflow-wrap:anywhere}
.scores{font-size:12px;color:var(--soft);margin:0 0 6px;overflow-wrap:anywhere}.scores.trouble{color:var(--worse)}
.ranking{margin:0;padding-left:30px;overflow-wrap:anywhere}
.ranking li::marker{color:var(--soft);font-size:12px}
.ranking .hit{background:var(--mark);border-radius:3px;padding:0 4px;margin:0 -4px;font-weight:600}
.ranking .score{color:var(--soft);font-size:12px}
blockquote{margin:0 0 8px;padding:8px 12px;background:var(--ground);border-radius:8px;white-space:pre-wrap;
overflow-wrap:anywhere}
.cites{margin:0 0 8px;padding-left:18px;font-size:12.5px;overflow-wrap:anywhere}
.change{border-top:1px solid var(--rule);padding:10px 0}
.change p{margin:0 0 4px;overflow-wrap:anywhere}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,280px),1fr));gap:4px 26px;font-size:13px}
.sides h4{margin:4px 0 2px;font-size:12px;color:var(--soft);font-weight:600}
.sides ol{margin:0;padding-left:22px;overflow-wrap:anywhere}
footer{padding-bottom:40px;font-size:13px;color:var(--soft)}
@media(max-width:720px){
main,header,footer{padding-left:14px;padding-right:14px}
header{padding-top:22px}
section{padding:16px 14px 18px;border-radius:10px}
.facts{grid-template-columns:1fr 1fr;gap:8px 14px}
.queries summary{grid-template-columns:minmax(0,1fr)}
.minis{padding-left:16px}
.looks{padding-left:0}
.stack,.stack tbody,.stack caption{display:block}
.stack td small{white-space:normal}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));border-bottom:1px solid var(--rule);padding:10px 0}
.stack tbody tr>*{border:0;padding:2px 10px 2px 0;text-align:left;width:auto}
.stack tbody th,.stack td.plot{grid-column:1/-1;width:auto}
.stack td[data-label]::before{content:attr(data-label);display:block;font-size:12px;color:var(--soft)}
.stack tbody tr:last-child{border-bottom:0}
}
@media print{
:root{color-scheme:light;LIGHT}
body,table,.note{font-size:11px}body{background:#fff}
.charts{grid-template-columns:1fr 1fr}
thead,caption,h2,h3,.note{break-after:avoid}
td small,th small,.tile .soft{font-size:10px}
section{border:0;padding:0;margin:22px 0}
nav,.tools{display:none!important}
.queries>li,figure,tr,.change,.tile{break-inside:avoid}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
"""

STYLE = (
    f":root{{color-scheme:light dark;{LIGHT}}}@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    + COLOURS
    + RULES.replace("LIGHT", LIGHT)
)

# Sorting, filtering and opening what a bar leads to. The page is complete without it.
SCRIPT = """
(function(){
var list=document.querySelector('.queries'),tools=document.querySelector('.tools');
function reveal(){var to=location.hash.slice(1),spot=to&&document.getElementById(to),box=spot&&spot.closest('details');
if(box){box.open=true;spot.closest('li').hidden=false;spot.scrollIntoView({block:'center'});}}
addEventListener('hashchange',reveal);reveal();
if(!list||!tools)return;
tools.hidden=false;
var rows=Array.prototype.slice.call(list.children),sort=tools.querySelector('select'),find=tools.querySelector('input'),
count=tools.querySelector('output');
function key(row,name){var at=row.getAttribute('data-'+name);return at===null||at===''?Infinity:Number(at);}
function show(){var name=sort.value,words=find.value.toLowerCase(),shown=0;
rows.sort(function(a,b){var x=key(a,name),y=key(b,name);return x===y?key(a,'n')-key(b,'n'):x<y?-1:1;});
rows.forEach(function(row){list.appendChild(row);
row.hidden=row.querySelector('summary').textContent.toLowerCase().indexOf(words)<0;if(!row.hidden)shown++;});
count.textContent=shown+' of '+rows.length;}
sort.addEventListener('change',show);find.addEventListener('input',show);
})();
"""

SCRIPT_HASH = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
# Nothing may be fetched, and no other script may run, whatever a document smuggles into the page.
CONTENT_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'; img-src data:"
