// Sorting, filtering and opening what a bar leads to. The page is complete without it.
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
