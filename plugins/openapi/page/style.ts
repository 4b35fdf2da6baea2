import { baseStyle } from '../../shared/pages/style.ts'

export const pageStyle = `${baseStyle}
body { overflow-wrap: anywhere }
header, main { max-width: 64rem; margin: 0 auto; padding: .75rem 1rem }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline }
header h1 { font-size: 1.6rem; margin: 0 }
header nav { margin-left: auto; display: flex; gap: 1rem }
h2 { font-size: 1.2rem; margin: 1.8rem 0 .5rem }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem }
p { margin: .4rem 0 }
.bar { align-items: start; margin: 1rem 0 }
.bar > input { margin-left: auto; min-width: 12rem }
input, select, textarea { background: var(--bg); border-color: var(--dim) }
button { background: var(--act); border-color: var(--act); color: var(--card); padding: .3rem 1.2rem }
textarea { width: 100%; font: 13px/1.5 ui-monospace, monospace; tab-size: 2 }
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
.badge { margin-left: .4rem }
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
pre { background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; margin: .4rem 0; white-space: pre-wrap; max-height: 30rem }
@media (max-width: 40rem) {
  .what { display: block; margin-left: 0 }
  .bar > * { width: 100% }
}
`
