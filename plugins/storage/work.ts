import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { StorageTrace } from './disk.ts'

export const work: readonly WorkKind[] = [
  workKind<StorageTrace>({
    channel: 'storage',
    role: 'call',
    list: { id: 'storage', title: 'Storage' },
    help: 'Operations on objects',
    span: ({ operation }) => `storage ${operation}`,
    title: ({ key }) => key,
    note: ({ operation, disk }) => `${operation} on ${disk}`,
    data: ({ disk, operation, key }) => ({ disk, operation, key }),
    labels: {
      disk: { attribute: 'framework.storage.disk', of: ({ disk }) => disk },
      operation: { attribute: 'framework.storage.operation', of: ({ operation }) => operation },
    },
    attributes: ({ key }) => ({ 'framework.storage.key': key }),
    metric: 'storage.operation',
  }),
]
