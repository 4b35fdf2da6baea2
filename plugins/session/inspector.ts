import { createHash } from 'node:crypto'
import type { InspectorPanel, PanelServices } from '../shared/development/panels.ts'
import { storesOfScopes } from './stores/contract.ts'
import { MemoryStore } from './stores/memory.ts'

/** The store in memory; what is in the other stores can be seen with their own tools. */
function memoryOf(services: PanelServices): MemoryStore | undefined {
  const store = storesOfScopes.get(services)
  return store instanceof MemoryStore ? store : undefined
}

/** Shows a hash instead of the id, which is half of what logs its client in. */
const hashOf = (id: string) => createHash('sha256').update(id).digest('base64url').slice(0, 16)

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Sessions in memory',
    columns: ['Hash of the id', 'Bytes', 'Ends'],
    *rows(services) {
      for (const { id, bytes, end } of memoryOf(services)?.sessions() ?? []) yield [hashOf(id), bytes, new Date(end)]
    },
    actions: [
      {
        name: 'End',
        confirm: 'End this session? Its client is logged out.',
        run(services, hash) {
          const store = memoryOf(services)
          for (const { id } of store?.sessions() ?? [])
            if (hashOf(id) === hash && store!.destroy(id)) return 'It has ended.'
          throw new Error('this session no longer exists')
        },
      },
    ],
  },
]
