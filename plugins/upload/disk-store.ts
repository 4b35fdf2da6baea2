import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store, Stored, StoreSource } from './store.ts'

/**
 * Stores files in a temporary folder that only this user can read, under names that can neither be guessed nor chosen.
 *
 * The folder is created for the first file, and created again if it was removed.
 */
export class DiskStore implements Store {
  readonly #base: string
  #folder: Promise<string> | undefined
  #closed = false

  constructor(base: string) {
    this.#base = base
  }

  async write({ content }: StoreSource): Promise<Stored> {
    const { path, handle } = await this.#create()
    const remove = () => unlink(path).catch(ignore)
    try {
      await writeFile(handle, content)
      await handle.close()
    } catch (error) {
      await handle.close().catch(ignore)
      await remove()
      throw error
    }
    return { path, release: remove }
  }

  async close(): Promise<void> {
    this.#closed = true
    const folder = this.#folder
    this.#folder = undefined
    if (folder !== undefined) await rm(await folder, { recursive: true, force: true })
  }

  async #create(retry = true): Promise<{ path: string; handle: FileHandle }> {
    if (this.#closed) throw new Error('a file was uploaded while the server closed')
    // mkdtemp creates the folder with mode 0700.
    this.#folder ??= mkdtemp(join(this.#base, 'framework-upload-'))
    const folder = this.#folder
    try {
      const path = join(await folder, randomBytes(16).toString('hex'))
      return { path, handle: await open(path, 'wx', 0o600) }
    } catch (error) {
      // A failure must not affect every later file.
      if (this.#folder === folder) this.#folder = undefined
      if (!retry || (error as { code?: unknown }).code !== 'ENOENT') throw error
      return this.#create(false)
    }
  }
}

function ignore(): void {}
