import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverSuites } from '../load/suites.ts'
import { tablesOf } from './results.ts'
import { root } from './stage.ts'

/** `10 000 routes` is 10 000. */
const sizeOf = ({ label }: Bar) => Number(/^[\d ]*/.exec(label)![0].replaceAll(' ', ''))

interface Bar {
  readonly label: string
  readonly value: number
}

const fileOf = (name: string) => join(root, 'docs/diagrams', `${name}.svg`)

/** The drawings of the documentation have one style, which a browser reads in dark and light. */
const style = () => /<style>[\s\S]*<\/style>/.exec(readFileSync(fileOf('benchmarks'), 'utf8'))![0]

/** The headings of the framework: the server, and the command that starts workers. */
const own = ['framework', 'start']

/** Bars under headings. */
function drawn(name: string, unit: string, groups: ReadonlyMap<string, readonly Bar[]>): string {
  const longest = Math.max(...[...groups.values()].flat().map(({ value }) => value))
  const lines: string[] = []
  let y = 33
  for (const [heading, bars] of groups) {
    lines.push(`<text class="mono" x="12" y="${y}">${heading}</text>`)
    for (const { label, value } of bars) {
      y += 24
      const width = Math.max(1, Math.round((value / longest) * 270))
      const kind = own.includes(heading) ? 'tint' : 'box'
      lines.push(
        `<text class="soft" x="12" y="${y + 2}">${label}</text>`,
        `<rect class="${kind}" x="150" y="${y - 11}" width="${width}" height="18" rx="3"/>`,
        `<text class="soft" x="${158 + width}" y="${y + 2}">${value} ${unit}</text>`,
      )
    }
    y += 36
  }
  const height = y - 12
  return `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 560 ${height}" width="560" height="${height}">
  ${style()}
  <rect class="paper" width="560" height="${height}" rx="10"/>
  <g id="${name}-head">
    ${lines.join('\n    ')}
  </g>
</svg>
`
}

const pictured = {
  'growing-routes': 'CPU µs/req',
  'growing-plugins': 'CPU µs/req',
  'growing-middlewares': 'CPU µs/req',
  'growing-connections': 'CPU µs/req',
  'workers-work': 'req/s',
} as const

/** Drawings of the suites of growth that a part of `benchmarks/results.md` has, by their names. */
export function growthPictures(part: string): ReadonlyMap<string, string> {
  const tables = tablesOf(part)
  const pictures = new Map<string, string>()
  for (const [name, column] of Object.entries(pictured)) {
    const table = tables.get(serverSuites[name as keyof typeof pictured].title)
    if (table === undefined) continue
    const groups = new Map<string, Bar[]>()
    for (const [server, cells] of table) {
      const [, heading, label] = /^([^,]*)(?:, (.*))?$/.exec(server)!
      const bars = groups.get(heading!) ?? []
      groups.set(heading!, bars)
      bars.push({ label: label ?? '', value: Number(cells.get(column)) })
    }
    // Tables have the cheapest first; a reader of a picture follows the size.
    for (const bars of groups.values()) bars.sort((a, b) => sizeOf(a) - sizeOf(b))
    const sorted = new Map([...groups].sort(([a], [b]) => Number(own.includes(b)) - Number(own.includes(a))))
    pictures.set(name, drawn(name, column.replace('CPU ', '').replace('/req', ''), sorted))
  }
  return pictures
}

/** Writes them into the documentation. */
export function drawGrowth(part: string): void {
  for (const [name, picture] of growthPictures(part)) writeFileSync(fileOf(name), picture)
}
