import { readFile, rename, writeFile } from 'node:fs/promises'
import { emptyShelf, type Shelf } from './library.ts'

/** Keeps a shelf in a JSON file. */
export class FileStore {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  /** The contents of the file; an empty shelf when there is none. */
  async load(): Promise<Shelf> {
    try {
      return JSON.parse(await readFile(this.#file, 'utf8')) as Shelf
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ENOENT') return emptyShelf()
      throw error
    }
  }

  /** Writes a new file next to the old one and then renames it over the old one, so a crash leaves one of the two intact. */
  async save(shelf: Shelf): Promise<void> {
    const draft = `${this.#file}.${process.pid}.tmp`
    await writeFile(draft, JSON.stringify(shelf, undefined, 2))
    await rename(draft, this.#file)
  }
}
