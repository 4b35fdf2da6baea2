import { OptionError, quoted } from '../../kernel/index.ts'
import { joinedOptions } from '../shared/options/two-arguments.ts'
import { StorageDisk } from './disk.ts'
import { StorageProviderError } from './errors.ts'
import { type StorageConfiguration, type StorageSettings, storageOptions } from './options.ts'
import type { StorageProvider } from './providers/contract.ts'

/**
 * Objects by key, in one or more places: a bucket, a disk, memory. The methods of the storage itself use the default provider.
 *
 * It needs no server, and connects to nothing until it is used.
 *
 * @throws OptionError.
 * @example
 * const storage = new Storage(
 *   { files: new LocalStorageProvider({ root: '/tmp/files' }), cache: new MemoryStorageProvider() },
 *   { defaultProvider: 'files' },
 * )
 * await storage.putObject('hello.txt', 'hello')
 * await storage.use('cache').putObject('hello.txt', await storage.getObject('hello.txt'))
 */
export class Storage<Name extends string = string> extends StorageDisk {
  readonly #disks: ReadonlyMap<string, StorageDisk>
  readonly #providers: readonly StorageProvider[]

  /** `read`: options that a plugin has already read. */
  constructor(
    providers: { readonly [Key in Name]: StorageProvider },
    settings: StorageSettings<NoInfer<Name>> = {},
    read: StorageConfiguration = storageOptions.parse(joinedOptions('providers', providers, settings), 'storage'),
  ) {
    const name = read.defaultProvider
    super(name, read.providers[name]!)
    const entries = Object.entries(read.providers)
    this.#disks = new Map(entries.map(([key, provider]) => [key, new StorageDisk(key, provider)]))
    this.#providers = entries.map(([, provider]) => provider)
  }

  /**
   * Returns the disk with the objects of one provider.
   *
   * @throws StorageProviderError for an unknown name.
   */
  use(name: Name): StorageDisk {
    const disk = this.#disks.get(name)
    if (disk !== undefined) return disk
    if (typeof name !== 'string') throw OptionError('use', quoted(name), 'the name of a provider')
    throw StorageProviderError(name, [...this.#disks.keys()])
  }

  /** @internal Every disk. */
  get disks(): readonly StorageDisk[] {
    return [...this.#disks.values()]
  }

  /** Resolves if every provider works, otherwise rejects with the first failure; for health checks. */
  override async health(): Promise<void> {
    await Promise.all([...this.#disks.values()].map((disk) => disk.health()))
  }

  /** Closes connections, so that a script can end; a provider that is used again reopens them. */
  async close(): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.close?.()))
  }
}
