package page

// style is for light and dark, for a wide screen and a phone. It has no character that XML would take for markup.
const style = `
:root{--bg:#fbfaf8;--card:#fff;--ink:#1c1d20;--soft:#676b73;--line:#e3e1dc;--good:#1a7f4b;--warn:#a15c00;--bad:#c0262d;--idle:#7b7f88;
--goodbg:#d9f0e3;--warnbg:#fbe8c8;--badbg:#fadadb;--idlebg:#e9e9ec;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{--bg:#141518;--card:#1c1e22;--ink:#e8e8ea;--soft:#9a9ea8;--line:#303339;--good:#6fd39c;--warn:#f0b35c;--bad:#ff8a8a;
--idle:#a0a4ad;--goodbg:#173a28;--warnbg:#43300f;--badbg:#4a1d20;--idlebg:#2c2f35}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.5rem 1.25rem 2rem;max-width:70rem;background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{margin:0;font:600 1.5rem/1.25 var(--mono);overflow-wrap:anywhere}
h2{margin:0;font:600 1.05rem/1.3 var(--mono);overflow-wrap:anywhere}
h3{margin:1.4rem 0 .5rem;font-size:.75rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}
p{margin:.25rem 0}
time{font-family:var(--mono);font-size:.92em;white-space:nowrap}
.top{margin-bottom:.8rem}
.meta,footer{color:var(--soft);font-size:.87rem}
footer{margin-top:2rem}
.warning{padding:.5rem .75rem;border-left:3px solid var(--bad);background:var(--badbg);overflow-wrap:anywhere}
.summary{display:flex;flex-wrap:wrap;gap:.5rem;margin-bottom:1.25rem}
.chip{padding:.3rem .8rem;border-radius:1rem;background:var(--idlebg)}
.chip b{font-variant-numeric:tabular-nums}
.subject{background:var(--card);border:1px solid var(--line);border-radius:10px;margin-bottom:.8rem}
.subject-head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .7rem;padding:.75rem 1rem}
summary{cursor:pointer}
summary.subject-head::before{content:"\25B8";color:var(--soft);width:.8em}
summary.subject-head{list-style:none}
summary.subject-head::-webkit-details-marker{display:none}
details[open]>summary.subject-head::before{content:"\25BE"}
.subject-body{padding:0 1rem 1rem}
.pill{display:inline-block;padding:0 .55rem;border-radius:1rem;font-size:.8rem;line-height:1.5rem;background:var(--idlebg);color:var(--idle);white-space:nowrap}
.pill.good,.chip.good{background:var(--goodbg);color:var(--good)}
.pill.warn,.chip.warn{background:var(--warnbg);color:var(--warn)}
.pill.bad,.chip.bad{background:var(--badbg);color:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;color:var(--ink);font-size:.9rem}
.fact{overflow-wrap:anywhere}
.fact i,.label i{font-style:normal;color:var(--soft)}
.reason{overflow-wrap:anywhere}
.tree,.below,.flat{list-style:none;margin:0;padding:0;overflow-wrap:anywhere}
.tree li{position:relative;padding-top:.35rem}
.below{padding-left:1.5rem}
.below>li::before{content:"";position:absolute;left:-1.1rem;top:0;height:1.15rem;width:.85rem;border:solid var(--line);border-width:0 0 2px 2px;border-bottom-left-radius:6px}
.below>li:not(:last-child)::after{content:"";position:absolute;left:-1.1rem;top:0;bottom:0;border-left:2px solid var(--line)}
.line{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem .75rem}
.id{font-family:var(--mono);font-weight:600}
.line .fact{font-size:.88rem}
.detail{color:var(--soft);font-size:.88rem;padding-left:1.5rem}
li:has(>.below)>.detail{background:linear-gradient(var(--line),var(--line)) .4rem 0/2px 100% no-repeat}
.chart{position:relative;border:1px solid var(--line);border-radius:8px;padding:.2rem .9rem .6rem;overflow:hidden}
.axis,.lane{display:grid;grid-template-columns:11rem minmax(0,1fr);gap:.75rem;align-items:center}
.axis .track{grid-column:2;height:1.7rem}
.track{position:relative;height:1.55rem}
.tick{position:absolute;top:0;height:200rem;border-left:1px solid var(--line)}
.tick i{position:absolute;left:.3rem;top:.2rem;font:normal .75rem/1 var(--mono);color:var(--soft);white-space:nowrap}
.label{font-size:.85rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.label b{font-family:var(--mono);font-weight:500}
.label i{margin-left:.5em}
.span,.silent{position:absolute;top:.2rem;height:1.15rem;min-width:3px;border-radius:3px}
.span{background:var(--idlebg);color:var(--idle);border-left:2px solid var(--idle);font-size:.72rem;line-height:1.15rem;padding-left:.3rem;white-space:nowrap;overflow:hidden}
.span.good{background:var(--goodbg);color:var(--good);border-color:var(--good)}
.span.warn{background:var(--warnbg);color:var(--warn);border-color:var(--warn)}
.span.bad{background:var(--badbg);color:var(--bad);border-color:var(--bad)}
.silent{top:1.2rem;height:.22rem;background:repeating-linear-gradient(90deg,var(--soft) 0 3px,transparent 3px 7px);border-radius:0}
.tick.end i{left:auto;right:.3rem}
.mark{position:absolute;top:-.02rem;width:.55rem;height:.55rem;margin-left:-.28rem;border-radius:50%;background:var(--idle);border:1px solid var(--card)}
.mark.good{background:var(--good)}
.mark.warn{background:var(--warn)}
.mark.bad{background:var(--bad)}
.entries{margin-top:1.4rem}
.entries summary{font-size:.75rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}
table{border-collapse:collapse;width:100%;font-size:.88rem;margin-top:.4rem}
td{padding:.22rem .9rem .22rem 0;vertical-align:top;overflow-wrap:anywhere;border-top:1px solid var(--line)}
td i{font-style:normal;color:var(--soft)}
td.when{color:var(--soft);width:1%;white-space:nowrap}
b.good{color:var(--good)}
b.warn{color:var(--warn)}
b.bad{color:var(--bad)}
td b{font-weight:500}
.weighty td,.weighty b{font-weight:600}
.reason time{color:var(--soft);margin-right:.4em}
@media (max-width:40rem){
body{padding:1rem .7rem}
.axis,.lane{grid-template-columns:minmax(0,1fr);gap:0}
.axis .track{grid-column:1}
.lane{padding-top:.15rem}
.label{position:relative;background:var(--card);width:fit-content;max-width:100%;padding-right:.4rem}
.tick:nth-child(even) i{display:none}
.below{padding-left:.9rem}
.below>li::before,.below>li:not(:last-child)::after{left:-.6rem}
.below>li::before{width:.4rem}
.detail{padding-left:.9rem}
li:has(>.below)>.detail{background-position:.3rem 0}
table,tbody,tr{display:block}
tr{border-top:1px solid var(--line);padding:.25rem 0}
td{display:inline-block;border:0;padding:0 .6rem 0 0}
td.when{width:auto}
.subject-body{padding:0 .7rem .8rem}
.subject-head{padding:.7rem}
}
`
