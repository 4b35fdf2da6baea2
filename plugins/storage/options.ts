import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import { StorageProviderError } from './errors.ts'
import type { StorageProvider } from './providers/contract.ts'

/** What `new Storage` takes beside its providers. */
export interface StorageSettings<Name extends string = string> {
  /** The one that is meant where none is named. May be left out where there is only one. */
  defaultProvider?: Name
}

/** Options of the storage plugin. */
export interface StorageOptions {
  /** Where objects are kept, by names of your choice. */
  providers: { readonly [name: string]: StorageProvider }
  /** The one that is meant where none is named. May be left out where there is only one. */
  defaultProvider?: string
}

const methods = ['put', 'read', 'remove', 'head', 'list', 'copy'] as const
const optional = ['move', 'downloadUrl', 'uploadUrl', 'publicUrl', 'ping', 'close'] as const

/** @throws OptionError for what is no option of the plugin. */
export function checkPluginOptions(options: unknown): void {
  checkOptions('storage', options as object, ['providers', 'defaultProvider'])
}

/** The name of the default provider of a map that is in order. */
export function checkProviders(providers: unknown, settings: StorageSettings): string {
  if (typeof providers !== 'object' || providers === null || Array.isArray(providers)) {
    throw OptionError('storage.providers', providers, 'an object of providers by name')
  }
  checkOptions('storage', settings, ['defaultProvider'])
  const names = Object.keys(providers)
  for (const [name, provider] of Object.entries(providers)) checkProvider(name, provider)
  const { defaultProvider = names.length === 1 ? names[0] : undefined } = settings
  if (typeof defaultProvider !== 'string') {
    throw OptionError(
      'storage.defaultProvider',
      quoted(defaultProvider),
      `the name of a provider: ${names.join(', ') || 'none'}`,
    )
  }
  if (!names.includes(defaultProvider)) throw StorageProviderError(defaultProvider, names)
  return defaultProvider
}

function checkProvider(name: string, provider: unknown): void {
  const option = `storage.providers.${name}`
  if (typeof provider !== 'object' || provider === null) throw OptionError(option, provider, 'a storage provider')
  const members = provider as Record<string, unknown>
  const lacking = methods.find((method) => typeof members[method] !== 'function')
  if (lacking !== undefined) throw OptionError(`${option}.${lacking}`, members[lacking], 'a function')
  const wrong = optional.find((method) => members[method] !== undefined && typeof members[method] !== 'function')
  if (wrong !== undefined) throw OptionError(`${option}.${wrong}`, members[wrong], 'a function or nothing')
}

/** @throws OptionError unless the value is text. */
export function textOption(option: string, value: unknown, what = 'text'): string {
  if (typeof value !== 'string' || value === '') throw OptionError(option, value, what)
  return value
}

/** Milliseconds for which a service may say nothing; default 10000. */
export function timeoutOption(option: string, value: unknown = 10_000): number {
  if (typeof value === 'number' && value >= 1 && value <= 2_147_483_647) return value
  throw OptionError(option, quoted(value), 'milliseconds, 1 or more')
}
