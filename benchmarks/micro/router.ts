import findMyWay from 'find-my-way'
import type { Built } from './built.ts'
import type { MicroCase } from './harness.ts'

/** Half of the routes are static, four tenths have two parameters, and one tenth are wildcards. */
function paths(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    if (i % 10 < 5) return `/area-${i}/list/all`
    return i % 10 < 9 ? `/area-${i}/items/:item/parts/:part` : `/area-${i}/files/*`
  })
}

// One in the middle of each kind; indices 50, 55 and 59 exist in both sizes.
const requests = {
  static: '/area-50/list/all',
  param: '/area-55/items/4711/parts/12',
  wildcard: '/area-59/files/2026/report.pdf',
  miss: '/area-50/lists/all',
}

/** Compares the framework's table with its router: the difference is the cost of the rules about slashes and empty segments. */
export async function routerCases(built: Built): Promise<MicroCase[]> {
  const [{ RouteTable }, { RouteCollection }] = await Promise.all([built.table(), built.collection()])
  const cases: MicroCase[] = []
  for (const count of [100, 10_000]) {
    const collection = new RouteCollection()
    const table = new RouteTable<string>()
    const floor = findMyWay({ maxParamLength: 65_536 })
    for (const path of paths(count)) {
      collection.get(path, () => path)
      floor.on('GET', path, () => {}, path)
    }
    for (const record of collection.routes) table.add(record, record.path)
    for (const [kind, path] of Object.entries(requests)) {
      const group = `${kind}, ${count.toLocaleString('en')} routes`
      const found = floor.find('GET', path)?.store as string | undefined
      if (table.match('GET', path)?.target !== found) throw new Error(`${group}: the two disagree about ${path}`)
      if ((found === undefined) !== (kind === 'miss')) throw new Error(`${group}: ${path} gives ${found}`)
      cases.push(
        {
          group,
          name: 'find-my-way',
          run(times) {
            let sum = 0
            for (let i = 0; i < times; i++) if (floor.find('GET', path) !== null) sum++
            return sum
          },
        },
        {
          group,
          name: 'framework',
          run(times) {
            let sum = 0
            for (let i = 0; i < times; i++) if (table.match('GET', path) !== undefined) sum++
            return sum
          },
        },
      )
    }
  }
  return cases
}
