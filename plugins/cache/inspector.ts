import type { InspectorPanel } from '../shared/development/panels.ts'

/** The part of a key that patterns are compared with; the rest distinguishes answers of the same address. */
const publicPart = (key: string) => key.split('#', 1)[0]!

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Cache entries',
    columns: ['Key', 'For'],
    rows: (services, limit) =>
      (services.get('cache').store?.keys?.(limit) ?? []).map((key) => {
        const id = publicPart(key)
        return { id, cells: [id, key.slice(id.length + 1)] }
      }),
    actions: [
      {
        name: 'Remove',
        async run(services, key) {
          const count = await services.get('cache').invalidatePattern(key)
          return count === 1 ? '1 entry was removed.' : `${count} entries were removed.`
        },
      },
    ],
  },
]
