import { randomUUID } from 'node:crypto'
import { HttpError, RouteCollection, S3StorageProvider, Server } from 'framework'
import { z } from 'zod'

const extensions = { 'image/png': 'png', 'image/jpeg': 'jpg' } as const
const Wanted = z.object({ type: z.enum(['image/png', 'image/jpeg']) })
// Only keys that this server has made: a client must not name others.
const Uploaded = z.object({ key: z.string().regex(/^incoming\/[0-9a-f-]{36}\.(?:png|jpg)$/) })
const maxSize = 5_000_000

export function makeServer(bucket: ConstructorParameters<typeof S3StorageProvider>[0]) {
  const routes = new RouteCollection()

  // 1. The page asks where to, and sends the file there with PUT: no byte of it passes this server.
  routes.post('/photos', { body: Wanted }, async (req, res) => {
    const key = `incoming/${randomUUID()}.${extensions[req.body.type]}`
    const url = await req.server.services.get('storage').getUploadUrl(key, 300, req.body.type)
    return res.created({ key, url })
  })

  // 2. The page says that it is done. What was not confirmed, a lifecycle rule of the bucket removes from `incoming/`.
  routes.put('/photos', { body: Uploaded }, async (req) => {
    const storage = req.server.services.get('storage')
    const { key } = req.body
    const { size } = await storage.metadata(key)
    if (size > maxSize) {
      await storage.deleteObject(key)
      throw new HttpError(413, { code: 'PhotoTooLargeError', message: `A photo has at most ${maxSize} bytes` })
    }
    const photo = key.replace('incoming/', 'photos/')
    await storage.move(key, photo)
    return { photo, url: await storage.getDownloadUrl(photo, { expirySeconds: 300 }) }
  })

  return new Server({
    router: routes,
    plugins: { storage: { providers: { photos: new S3StorageProvider(bucket) } } },
  })
}
