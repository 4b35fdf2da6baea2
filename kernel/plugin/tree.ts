import type { HookName } from './hooks.ts'
import type { PluginEntry, PluginTimes } from './scope.ts'

/** A snapshot of one plugin in the tree. */
export interface PluginNode {
  readonly name: string
  readonly version?: string
  readonly scoped: boolean
  readonly prefix: string
  /** Milliseconds spent in `setup`, ready hooks and close hooks. */
  readonly ms: Readonly<PluginTimes>
  readonly services: readonly string[]
  readonly middlewares: readonly string[]
  readonly hooks: readonly HookName[]
  readonly routes: readonly string[]
  readonly children: readonly PluginNode[]
}

/** The tree below an entry as plain data. */
export function snapshot(entry: PluginEntry): PluginNode {
  const { version } = entry.definition
  return {
    name: entry.name,
    ...(version === undefined ? {} : { version }),
    scoped: entry.scoped,
    prefix: entry.scope.prefix,
    ms: { ...entry.times },
    services: [...entry.services],
    middlewares: [...entry.middlewares],
    hooks: [...entry.hooks],
    routes: [...entry.routes],
    children: entry.children.map(snapshot),
  }
}

function describe(node: PluginNode): string {
  const notes: string[] = []
  const { boot, ready, close } = node.ms
  const times = [boot, ready, close].map((ms) => ms.toFixed(1))
  if (boot + ready + close > 0.05) notes.push(`boot ${times[0]} · ready ${times[1]} · close ${times[2]} ms`)
  if (node.services.length > 0) notes.push(`provides ${node.services.join(', ')}`)
  if (node.middlewares.length > 0) notes.push(`uses ${node.middlewares.join(', ')}`)
  if (node.hooks.length > 0) notes.push([...new Set(node.hooks)].join(', '))
  if (node.routes.length > 0) notes.push(node.routes.join(', '))
  const scope = node.scoped ? ` (scoped${node.prefix === '' ? '' : `, ${node.prefix}`})` : ''
  return `${node.name}${node.version === undefined ? '' : ` ${node.version}`}${scope}${notes.length === 0 ? '' : `  ${notes.join(' · ')}`}`
}

/** Draws a tree, one plugin a line. */
export function printTree(node: PluginNode, indent = ''): string {
  const lines = [describe(node)]
  node.children.forEach((child, i) => {
    const last = i === node.children.length - 1
    lines.push(`${indent}${last ? '└─' : '├─'} ${printTree(child, `${indent}${last ? '   ' : '│  '}`)}`)
  })
  return lines.join('\n')
}
