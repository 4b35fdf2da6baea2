import { type Listing, nearest } from '../../../kernel/index.ts'

/** A longer path was not typed by a person, and comparing takes time proportional to its length. */
const longest = 200

/** The routes whose path is nearest to one that no route has, with the typed values instead of parameters; those of the method first. */
export function nearestRoutes({ routes }: Pick<Listing, 'routes'>, method: string, path: string): string[] {
  const typed = path.replace(/[?#].*$/s, '').split('/')
  if (path.length > longest) return []
  const filled = new Map<string, string[]>()
  for (const { record } of routes) {
    const parts = record.path.split('/').map((part, at) => (part.startsWith(':') ? (typed[at] ?? part) : part))
    filled.set(parts.join('/'), [...(filled.get(parts.join('/')) ?? []), `${record.method} ${record.path}`])
  }
  const found: string[] = []
  while (found.length < 3) {
    const near = nearest(typed.join('/'), filled.keys())
    if (near === undefined) break
    found.push(...filled.get(near)!)
    filled.delete(near)
  }
  const isAsked = (route: string) => route.startsWith(`${method} `)
  return [...found.filter(isAsked), ...found.filter((route) => !isAsked(route))]
}
