import { baseStyle } from '../../shared/pages/style.ts'

export const pageStyle = `${baseStyle}
body {
  display: grid; grid-template: auto 1fr / 13rem minmax(0, 1fr); min-height: 100vh;
}
a { text-decoration: none }
a:hover { text-decoration: underline }
main:focus { outline: none }
header {
  grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center;
  padding: .6rem 1rem; background: var(--card); border-bottom: 1px solid var(--line);
}
header h1 { font-size: 1.05rem; margin: 0 }
header h1 a { color: inherit }
#where { overflow-wrap: anywhere }
#live { margin-left: auto }
#live::before { content: ''; display: inline-block; width: .6em; height: .6em; border-radius: 50%; background: var(--bar2); margin-right: .4em }
#live.on::before { background: var(--ok) }
button { white-space: nowrap }
button:hover { background: var(--soft) }
button:disabled { color: var(--dim); cursor: default }
nav { border-right: 1px solid var(--line); padding: .75rem .5rem; background: var(--card) }
nav ul { list-style: none; margin: 0; padding: 0; position: sticky; top: .75rem }
nav li.group { color: var(--dim); font-size: .8rem; padding: .9rem .6rem .2rem }
nav a { display: flex; justify-content: space-between; gap: .5rem; padding: .22rem .6rem; border-radius: 6px; color: inherit }
nav a:hover { background: var(--soft); text-decoration: none }
nav a[aria-current] { background: var(--soft); color: var(--act); font-weight: 600 }
nav .count { color: var(--dim); font-variant-numeric: tabular-nums; font-weight: 400 }
main { padding: 1rem; min-width: 0 }
main > p:first-child { margin-top: 0 }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; overflow-wrap: anywhere }
h3 { font-size: .95rem; margin: 1.4rem 0 .4rem }
.bar { align-items: center; margin-bottom: .75rem }
.bar h2 { margin: 0 }
.bar input { flex: 1; min-width: 8rem; max-width: 24rem; margin-left: auto }
.card { overflow: hidden }
.wide { overflow-x: auto }
.rows { list-style: none; margin: 0; padding: 0 }
.rows li + li { border-top: 1px solid var(--line) }
.rows a {
  display: grid; grid-template-columns: 5.5rem minmax(0, 1fr) auto 4.5rem; gap: .25rem .9rem; padding: .4rem .9rem; color: inherit;
}
.rows a:hover, .rows a:focus-visible { background: var(--soft); text-decoration: none }
.rows time, .rows .ms { color: var(--dim); font-variant-numeric: tabular-nums }
.rows .ms { text-align: right }
.rows .title { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.empty { padding: 1.5rem; color: var(--dim); text-align: center; margin: 0 }
.pad { padding: .75rem .9rem; margin: 0 }
summary { padding: .5rem .9rem; color: var(--dim) }
details + *, pre + details { border-top: 1px solid var(--line) }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .15rem 1rem; margin: 0 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .75rem .9rem; max-height: 30rem }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem }
.two > * { min-width: 0 }
th, td { padding: .35rem .9rem }
tr:last-child td { border-bottom: 0 }
th { color: var(--dim); font-weight: 500; font-size: .85rem }
td { overflow-wrap: break-word; min-width: 4rem }
td.chain { min-width: 12rem }
.act, .whole { white-space: nowrap }
.fall { list-style: none; margin: 0; padding: .4rem 0 }
.fall > li > a, .fall > li > span {
  display: grid; grid-template-columns: minmax(8rem, 34%) minmax(0, 1fr) 4.5rem; gap: .75rem; align-items: center;
  padding: .12rem .9rem; color: inherit; font-size: .9rem;
}
.fall a:hover { background: var(--soft); text-decoration: none }
.fall .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.fall .mark .name { color: var(--dim) }
.fall .line { position: relative; height: .8rem; background: var(--soft); border-radius: 3px }
.fall .line i { position: absolute; top: 0; bottom: 0; min-width: 2px; background: var(--bar); border-radius: 3px }
.fall .mark .line i { background: var(--bar2) }
.fall .ok { color: inherit }
.fall .failed .line i { background: var(--bad) }
.fall .failed .name { color: var(--bad) }
.fall .ms { text-align: right; color: var(--dim); font-variant-numeric: tabular-nums }
iframe { width: 100%; height: 28rem; border: 0; background: #fff; display: block; color-scheme: light }
.tree, .tree ul { list-style: none; margin: 0; padding-left: 1.1rem }
.tree { padding: .5rem .9rem }
.tree li { padding: .1rem 0; overflow-wrap: anywhere }
#notice:not(:empty) {
  position: fixed; right: 1rem; bottom: 1rem; max-width: min(32rem, calc(100vw - 2rem)); background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--act); padding: .6rem .9rem; border-radius: 6px; box-shadow: 0 4px 16px #0004; white-space: pre-wrap;
  overflow-wrap: anywhere; max-height: 60vh; overflow: auto;
}
@media (max-width: 48rem) {
  body { grid-template: auto auto 1fr / minmax(0, 1fr) }
  nav { border-right: 0; border-bottom: 1px solid var(--line); padding: .4rem .5rem; overflow-x: auto; min-width: 0 }
  nav ul { display: flex; gap: .15rem; position: static; align-items: center }
  nav li.group { display: none }
  nav a { white-space: nowrap }
  main { padding: .75rem }
  .rows a { grid-template-columns: minmax(0, 1fr) auto 4.5rem; padding: .4rem .7rem }
  .rows time, #where { display: none }
  dl { grid-template-columns: minmax(0, 40%) minmax(0, 1fr) }
  dt { overflow-wrap: anywhere }
  .fall > li > a, .fall > li > span { grid-template-columns: minmax(0, 45%) minmax(0, 1fr) 4rem; padding: .12rem .7rem; gap: .5rem }
  .bar input { max-width: none; width: 100%; margin-left: 0 }
}
`
