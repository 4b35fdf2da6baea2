import { CommandFailure, quoted, wrongUsage } from '../failure.ts'
import { typedPath } from '../project/working-folder.ts'
import { wordsOf } from '../scaffold/names.ts'
import { type KeyType, keyTypes, rsaBits } from './make.ts'

/** The typed options, checked. */
export interface KeyOptions {
  readonly type: KeyType
  readonly bits?: number | undefined
  readonly passphrase?: string | undefined
  /** The name in the spelling of files and of variables: `web-push` and `WEB_PUSH`. */
  readonly name: { readonly file: string; readonly variable: string }
  readonly env: boolean
  readonly out: string
}

interface Typed {
  readonly type: string
  readonly bits: number | undefined
  readonly name: string
  readonly env: boolean
  readonly out: string | undefined
  readonly 'passphrase-env': string | undefined
}

const wrong = (message: string) => wrongUsage(`key-generate: ${message}`)

/** Reads the typed options. @throws CommandFailure for invalid options; no message contains the passphrase. */
export function readKeyOptions(flags: Typed, environment: NodeJS.ProcessEnv): KeyOptions {
  const type = keyTypes.find((one) => one === flags.type)
  if (type === undefined) throw wrong(`--type takes ${keyTypes.join(', ')}, not "${flags.type}"`)
  const { bits, out } = flags
  if (bits !== undefined && type !== 'rsa') throw wrong(`--bits is for RSA; the size of ${type} is fixed`)
  if (bits !== undefined && !(Number.isInteger(bits) && bits >= rsaBits.least && bits <= rsaBits.most)) {
    throw wrong(`--bits takes ${rsaBits.least} to ${rsaBits.most}, not ${bits}`)
  }
  // ASCII only, like the names of variables; a path would lead out of the folder.
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(flags.name)) {
    throw wrong(`--name takes up to 64 letters, digits, - and _, a letter first, not ${quoted(flags.name)}`)
  }
  if (out?.trim() === '') throw wrong(`--out needs a ${flags.env ? 'file' : 'folder'}`)
  const words = wordsOf(flags.name)
  return {
    type,
    bits,
    passphrase: passphraseOf(flags['passphrase-env'], type, environment),
    name: { file: words.join('-'), variable: words.join('_').toUpperCase() },
    env: flags.env,
    out: out === undefined ? (flags.env ? '.env' : 'keys') : typedPath(out),
  }
}

function passphraseOf(variable: string | undefined, type: KeyType, environment: NodeJS.ProcessEnv): string | undefined {
  if (variable === undefined) return undefined
  if (type === 'secret') throw wrong('--passphrase-env is for private keys; a secret is not encrypted')
  const passphrase = environment[variable]
  if (passphrase !== undefined && passphrase !== '') return passphrase
  throw new CommandFailure(`key-generate: the variable ${quoted(variable)} of --passphrase-env is not set, or empty`)
}
