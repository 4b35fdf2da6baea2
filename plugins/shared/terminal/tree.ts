import type { Listing, PluginNode, RouteRecord } from '../../../kernel/index.ts'
import { aligned } from './columns.ts'

const phases = ['boot', 'ready', 'drain', 'close'] as const

function timesOf({ ms }: PluginNode): string {
  const spent = phases.filter((phase) => ms[phase] >= 0.05).map((phase) => `${phase} ${ms[phase].toFixed(1)}`)
  return spent.length === 0 ? '' : `${spent.join(' · ')} ms`
}

function contributionsOf(node: PluginNode): string {
  const parts: readonly (readonly [what: string, names: readonly string[]])[] = [
    ['provides ', node.services],
    ['uses ', node.middlewares],
    ['', [...new Set(node.hooks)]],
    ['', node.routes],
    ['', node.notes],
    ['options ', node.options],
  ]
  return parts.flatMap(([what, names]) => (names.length === 0 ? [] : [what + names.join(', ')])).join(' · ')
}

type Row = readonly [plugin: string, times: string, contributions: string]

/** The rows of a tree, one for each plugin: the branch, the times, and its contributions. */
export function treeRows(node: PluginNode, indent = ''): Row[] {
  const version = node.version === undefined ? '' : ` ${node.version}`
  const scope = node.scoped ? ` (scoped${node.prefix === '' ? '' : `, ${node.prefix}`})` : ''
  return [
    [node.name + version + scope, timesOf(node), contributionsOf(node)],
    ...node.children.flatMap((child, at): Row[] => {
      const isLast = at === node.children.length - 1
      const [[name, ...rest], ...below] = treeRows(child, `${indent}${isLast ? '   ' : '│  '}`) as [Row, ...Row[]]
      return [[`${indent}${isLast ? '└─' : '├─'} ${name}`, ...rest], ...below]
    }),
  ]
}

/** Draws a tree, one plugin per line. */
export const printTree = (node: PluginNode): string => aligned(treeRows(node)).join('\n')

/** The method of a route as lists show it: `WS` for a websocket, which is opened with GET. */
export const methodOf = ({ method, options }: RouteRecord): string =>
  (options as { readonly websocket?: unknown }).websocket ? 'WS' : method

/** The name of a handler; of one without a name, its place. */
export const handlerOf = ({ handler, site }: RouteRecord): string => handler.name || site.toLine()

/** The routes of a booted server, one line each with its chain. */
export function printRoutes(routes: Listing['routes']): string {
  const rows = routes.map(({ record, steps, plugin }) => [
    methodOf(record),
    record.path,
    [...steps.map((step) => step.name), handlerOf(record)].join(' > '),
    plugin === 'application' ? '' : `by ${plugin}`,
  ])
  return aligned(rows).join('\n')
}
