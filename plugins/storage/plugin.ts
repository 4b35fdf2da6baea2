import { definePlugin, quoted } from '../../kernel/index.ts'
import type { AccessWay } from '../shared/development/access.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { admissionsOf } from '../shared/http/subject.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { StorageTrace } from './disk.ts'
import { StorageUnavailableError } from './errors.ts'
import { type StorageConfiguration, storageOptions } from './options.ts'
import { LocalStorageProvider } from './providers/local.ts'
import { MemoryStorageProvider } from './providers/memory.ts'
import { Storage } from './storage.ts'

const work: readonly WorkKind[] = [
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

/** The signed addresses, for `framework access`. */
function ways({ disks }: { readonly disks: readonly LocalStorageProvider[] }): AccessWay[] {
  return disks.flatMap(({ urls }) =>
    ['GET', 'PUT'].map((method): AccessWay => {
      const options = { auth: false, tenant: false } as const
      return { method, path: `${urls!.path}/*`, conditions: { 'signed address': [] }, after: 'before', options }
    }),
  )
}

/**
 * Provides a storage as `services.storage`, handles requests for the signed addresses of its disks, and closes its connections with the
 * server.
 *
 * @example
 * const server = new Server({
 *   plugins: { storage: { providers: { files: new MemoryStorageProvider() }, defaultProvider: 'files' } },
 * })
 * server.put('/notes/:id', async (req, res) => {
 *   await server.services.get('storage').putObject(`notes/${req.params.id}.json`, JSON.stringify(req.body))
 *   res.noContent()
 * })
 */
export const storage = definePlugin({
  name: 'storage',
  access: { ways },
  options: storageOptions.into((settings, place) => {
    const paths = new Map<string, LocalStorageProvider>()
    for (const [name, provider] of Object.entries(settings.providers)) {
      if (!(provider instanceof LocalStorageProvider) || provider.urls === undefined) continue
      const { path } = provider.urls
      const before = paths.get(path)
      if (before !== undefined && before !== provider) {
        const at = place.in('providers').in(name).in('signedUrls').in('path')
        at.wrong(quoted(path), 'a path of its own for each disk')
      }
      paths.set(path, provider)
    }
    const isInMemory = Object.values(settings.providers).some((provider) => provider instanceof MemoryStorageProvider)
    return { ...settings, disks: [...paths.values()], isInMemory }
  }),
  // Ready: requests without objects are served, and a bucket that is away is away for all instances.
  reaches: ({ providers }: StorageConfiguration) => Object.values(providers).flatMap(({ where }) => where ?? []),
  health: {
    storage: {
      check: (services) => services.get('storage').health(),
      onFailure: 'degraded',
      // S3 and Azure charge for each request.
      cacheFor: 30_000,
      remedy: 'Start the service of the provider, or correct storage.providers',
    },
  },
  memory: (settings) => ({
    providers: Object.fromEntries(
      Object.entries(settings.providers).map(([name, provider]) => [name, new MemoryStorageProvider(provider, name)]),
    ),
    disks: [],
    isInMemory: true,
  }),
  doctor: async () => (await import('./doctor.ts')).checks,
  inspector: () => [
    {
      title: 'Stored objects',
      columns: ['Disk', 'Key', 'Bytes', 'Changed'],
      async *rows(services, limit) {
        for (const disk of services.get('storage').disks) {
          let count = 0
          for await (const { key, size, lastModified } of disk.list()) {
            // Some objects of each disk, so that a large disk does not hide the others.
            if (++count > limit) break
            yield { id: JSON.stringify([disk.name, key]), cells: [disk.name, key, size, lastModified] }
          }
        }
      },
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
  ],
  work,
  provide: (settings): { storage: Storage } => ({ storage: new Storage({}, {}, settings) }),
  async setup(ctx, { disks, isInMemory, providers }) {
    const failure = (why: string) => StorageUnavailableError('the storage', why)
    for (const provider of Object.values(providers))
      announceBackend(ctx.server, 'storage', provider, { limit: 10_000, failure })
    const service = ctx.services.get('storage')
    for (const disk of [service, ...service.disks]) disk.server = ctx.server
    if (isInMemory) {
      refuseSeveral(
        ctx.server.worker,
        'objects are kept',
        'Give storage.providers a disk (LocalStorageProvider), S3 or Azure',
      )
    }
    ctx.onClose(() => service.close())
    for (const disk of disks) {
      // Loads the modules for signed addresses only if a disk uses them.
      const { addressesOf } = await import('./serve.ts')
      const { admits, serve } = addressesOf(disk, disk.urls!)
      admissionsOf(ctx.services).push(admits)
      ctx.use(serve)
    }
  },
})
