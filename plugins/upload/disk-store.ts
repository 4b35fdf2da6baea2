import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from './store.ts'

/**
 * Stores files in a temporary folder that only this user can read, under names that can neither be guessed nor chosen.
 *
 * The folder is created for the first file, and created again if it was removed.
 */
export function diskStore(base: string): Store {
  let folder: Promise<string> | undefined
  let isClosed = false

  const create = async (retry = true): Promise<{ path: string; handle: FileHandle }> => {
    if (isClosed) throw new Error('a file was uploaded while the server closed')
    // mkdtemp creates the folder with mode 0700.
    folder ??= mkdtemp(join(base, 'framework-upload-'))
    const mine = folder
    try {
      const path = join(await mine, randomBytes(16).toString('hex'))
      return { path, handle: await open(path, 'wx', 0o600) }
    } catch (error) {
      // A failure must not affect every later file.
      if (folder === mine) folder = undefined
      if (!retry || (error as { code?: unknown }).code !== 'ENOENT') throw error
      return create(false)
    }
  }

  return {
    async write({ content }) {
      const { path, handle } = await create()
      const remove = () => unlink(path).catch(() => {})
      try {
        await writeFile(handle, content)
        await handle.close()
      } catch (error) {
        await handle.close().catch(() => {})
        await remove()
        throw error
      }
      return { path, release: remove }
    },
    async close() {
      isClosed = true
      const last = folder
      folder = undefined
      if (last !== undefined) await rm(await last, { recursive: true, force: true })
    },
  }
}
