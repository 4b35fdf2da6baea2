import { definePlugin, OptionError, quoted } from '../../kernel/index.ts'
import type { StorageOptions } from './options.ts'
import { checkPluginOptions } from './options.ts'
import { LocalStorageProvider } from './providers/local.ts'
import { Storage } from './storage.ts'

/**
 * Puts a storage at `services.storage`, answers the signed addresses of its disks, and closes its connections with the
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
  provide(options: StorageOptions) {
    checkPluginOptions(options)
    const { providers, defaultProvider } = options
    return { storage: new Storage(providers, defaultProvider === undefined ? {} : { defaultProvider }) }
  },
  async setup(ctx, { providers }: StorageOptions) {
    const service = ctx.services.get('storage')
    ctx.onClose(() => service.close())
    const paths = new Set<string>()
    for (const provider of new Set(Object.values(providers))) {
      if (!(provider instanceof LocalStorageProvider) || provider.urls === undefined) continue
      const { path } = provider.urls
      if (paths.has(path)) throw OptionError('signedUrls.path', quoted(path), 'a path of its own for each disk')
      paths.add(path)
      // Only who has signed addresses loads what answers them.
      const { addressServer } = await import('./serve.ts')
      ctx.use(addressServer(provider, provider.urls))
    }
  },
})
