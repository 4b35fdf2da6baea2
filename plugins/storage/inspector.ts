import type { InspectorPanel, PanelRow, PanelServices } from '../shared/development/panels.ts'

async function* objects(services: PanelServices, limit: number): AsyncGenerator<PanelRow> {
  const storage = services.get('storage')
  for (const disk of storage.disks) {
    let count = 0
    for await (const { key, size, lastModified } of disk.list()) {
      // Some objects of each disk, so that a large disk does not hide the others.
      if (++count > limit) break
      yield { id: JSON.stringify([disk.name, key]), cells: [disk.name, key, size, lastModified] }
    }
  }
}

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Stored objects',
    columns: ['Disk', 'Key', 'Bytes', 'Changed'],
    rows: objects,
    actions: [
      {
        name: 'Details',
        run(services, id) {
          const [disk, key] = JSON.parse(id) as [string, string]
          return services.get('storage').use(disk).metadata(key)
        },
      },
    ],
  },
]
