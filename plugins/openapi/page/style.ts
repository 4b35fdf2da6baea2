export const pageStyle = `:root {
  color-scheme: light dark;
  --bg: #f7f8fa; --card: #fff; --fg: #1b1f24; --dim: #59636e; --line: #d9dee4; --soft: #eef1f4;
  --act: #0a58ca; --ok: #1a7f37; --bad: #b3261e; --warn: #8a5200; --new: #6f42c1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0d1117; --card: #151b23; --fg: #e6edf3; --dim: #9aa4af; --line: #2d343d; --soft: #1d242d;
    --act: #79b8ff; --ok: #56d364; --bad: #ff8a80; --warn: #f0b45b; --new: #c8a6ff;
  }
}
*, ::before, ::after { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
header, main { max-width: 64rem; margin: 0 auto; padding: .75rem 1rem }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline }
header h1 { font-size: 1.6rem; margin: 0 }
header nav { margin-left: auto; display: flex; gap: 1rem }
h2 { font-size: 1.2rem; margin: 1.8rem 0 .5rem }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem }
p { margin: .4rem 0 }
a { color: var(--act) }
:focus-visible { outline: 2px solid var(--act); outline-offset: 2px }
.dim { color: var(--dim) }
.failed { color: var(--bad) }
.skip { position: absolute; left: -99rem }
.skip:focus { left: .5rem; top: .5rem; background: var(--card); padding: .5rem }
.bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: start; margin: 1rem 0 }
.bar > input { margin-left: auto; min-width: 12rem }
button, input, select, textarea { font: inherit; color: inherit; background: var(--bg); border: 1px solid var(--dim); border-radius: 6px; padding: .3rem .6rem; max-width: 100% }
button { cursor: pointer; background: var(--act); border-color: var(--act); color: var(--card); padding: .3rem 1.2rem }
textarea { width: 100%; font: 13px/1.5 ui-monospace, monospace; tab-size: 2 }
summary { cursor: pointer }
.operation, .credentials { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0 }
.operation > summary, .credentials > summary { padding: .45rem .8rem }
.credentials { margin: 0 }
.operation[open] > summary { border-bottom: 1px solid var(--line) }
.operation > .inside, .credentials > .inside { padding: .5rem .9rem 1rem }
.verb { display: inline-block; min-width: 4.6rem; font: 700 13px/1.5 ui-monospace, monospace; color: var(--act) }
.verb.post { color: var(--ok) } .verb.put, .verb.patch { color: var(--warn) } .verb.delete { color: var(--bad) } .verb.x-query, .verb.head, .verb.options { color: var(--new) }
.what { color: var(--dim); margin-left: .8rem }
.old { text-decoration: line-through }
.lock { display: inline-block; width: .8em; height: .62em; margin: .5em .2em 0 .7em; background: var(--dim); border-radius: 2px; position: relative }
.lock::before { content: ''; position: absolute; left: 18%; bottom: 100%; width: 64%; height: .42em; border: .13em solid var(--dim); border-bottom: 0; border-radius: .4em .4em 0 0 }
.badge { border: 1px solid var(--line); border-radius: 4px; padding: 0 .35rem; margin-left: .4rem; font-size: .8rem; color: var(--dim); white-space: nowrap }
.type { color: var(--new); font: .9em ui-monospace, monospace }
.field { display: grid; gap: .15rem; margin: .6rem 0 0 }
.field input, .field select { justify-self: start; width: min(100%, 30rem) }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0 }
fieldset label { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .3rem 0 }
.response { border-top: 1px solid var(--line); padding: .3rem 0 }
.status { font-family: ui-monospace, monospace }
.s2 { color: var(--ok) } .s3 { color: var(--act) } .s4 { color: var(--warn) } .s5 { color: var(--bad) }
.schema { list-style: none; margin: .2rem 0; padding: 0 0 0 .9rem; border-left: 2px solid var(--line) }
.schema li { margin: .2rem 0 }
code { font: .92em ui-monospace, monospace }
pre { background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; margin: .4rem 0; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; max-height: 30rem; overflow: auto; tab-size: 2 }
@media (max-width: 40rem) {
  .what { display: block; margin-left: 0 }
  .bar > * { width: 100% }
}
`
