/** The beginning of the style of every page: colours, which follow the system, and what looks the same everywhere. */
export const baseStyle = `:root {
  color-scheme: light dark;
  --bg: #f7f8fa; --card: #fff; --fg: #1b1f24; --dim: #59636e; --line: #d9dee4; --soft: #eef1f4;
  --act: #0a58ca; --ok: #1a7f37; --bad: #b3261e; --warn: #8a5200; --new: #6f42c1; --mark: #fdecea; --bar: #6ea8fe; --bar2: #b6c2cf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0d1117; --card: #151b23; --fg: #e6edf3; --dim: #9aa4af; --line: #2d343d; --soft: #1d242d;
    --act: #79b8ff; --ok: #56d364; --bad: #ff8a80; --warn: #f0b45b; --new: #c8a6ff; --mark: #4a2320; --bar: #2f6fc4; --bar2: #47525e;
  }
}
*, ::before, ::after { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif }
a { color: var(--act) }
:focus-visible { outline: 2px solid var(--act); outline-offset: 2px }
.dim, dt { color: var(--dim) }
.ok { color: var(--ok) } .failed { color: var(--bad) } .running { color: var(--warn) }
.skip { position: absolute; left: -99rem }
.skip:focus { left: .5rem; top: .5rem; background: var(--card); padding: .5rem; z-index: 2 }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px }
.bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem }
.badge { border: 1px solid var(--line); border-radius: 4px; padding: 0 .35rem; font-size: .8rem; color: var(--dim); white-space: nowrap }
button, input, select, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .7rem; max-width: 100% }
button { cursor: pointer; color: var(--act) }
summary { cursor: pointer }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; border-bottom: 1px solid var(--line); vertical-align: top }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere }
pre { margin: 0; font: 13px/1.5 ui-monospace, monospace; overflow: auto; tab-size: 2 }
`
