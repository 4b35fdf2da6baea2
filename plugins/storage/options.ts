import { quoted } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import type { StorageProvider } from './providers/contract.ts'

/** The options of `new Storage`. */
export interface StorageSettings<Name extends string = string> {
  /** The default provider. Optional if there is only one. */
  defaultProvider?: Name
}

/** Options of the storage plugin. */
export interface StorageOptions extends StorageSettings {
  /** The providers of objects, under names of your choice. */
  providers: { readonly [name: string]: StorageProvider }
}

const methods = ['put', 'read', 'remove', 'head', 'list', 'copy'] as const
const optional = ['move', 'downloadUrl', 'uploadUrl', 'publicUrl', 'ping', 'close'] as const

const provider = option
  .custom<StorageProvider, StorageProvider>('a storage provider', (given, place) => {
    if (typeof given !== 'object' || given === null) return void place.wrong(given, 'a storage provider')
    const members = given as Readonly<Record<string, unknown>>
    for (const name of methods) {
      if (typeof members[name] !== 'function') place.in(name).wrong(members[name], 'a function')
    }
    for (const name of optional) {
      const method = members[name]
      if (method !== undefined && typeof method !== 'function') place.in(name).wrong(method, 'a function or nothing')
    }
    return given as StorageProvider
  })
  .secret()

export const storageOptions = option
  .shape({
    providers: option.record(provider, 'an object of providers by name').required(),
    defaultProvider: option.name(),
  })
  .into(({ providers, defaultProvider }, place) => {
    const names = Object.keys(providers)
    const name = defaultProvider ?? (names.length === 1 ? names[0] : undefined)
    if (name === undefined || !names.includes(name)) {
      const takes = `the name of a provider: ${names.join(', ') || 'none'}`
      place.in('defaultProvider').wrong(quoted(name), takes)
    }
    return { providers, defaultProvider: name! }
  })
  .typed<StorageOptions>()
  .required('at least one provider: { providers: { files: new LocalStorageProvider({ root: "files" }) } }')

/** The settings of a storage. */
export type StorageConfiguration = SettingsOf<typeof storageOptions>

/** Milliseconds for which a service may stay silent. */
export const timeout = option.ms({ min: 1 }).default(10_000)
