import type { CommandFlags } from '../../plugins/shared/development/command-definition.ts'
import { CommandFailure, oneOf, quoted, wrongUsage } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { number, onOff, text } from '../run/own-command.ts'
import { scaffoldFlags } from '../scaffold/files.ts'
import { wordsOf } from '../scaffold/names.ts'
import { type KeyType, keyTypes, rsaBits } from './make.ts'

export const keyFlags = {
  type: text('type', 'rsa, ed25519, or secret', { short: 't', default: 'rsa' }),
  bits: number('number', 'The size of an RSA key (default: 3072)'),
  name: text('name', 'The prefix of the file and variable names', { short: 'n', default: 'app' }),
  env: onOff('Writes variables to .env and declares them, instead of writing key files', { short: 'e' }),
  out: text('path', 'The folder of the files (default: keys) or, with --env, the file (default: .env)', { short: 'o' }),
  'passphrase-env': text('variable', 'Encrypts the private key with the value of this environment variable'),
  ...scaffoldFlags,
} as const

/** The typed options, checked. */
export type KeyOptions = ReturnType<typeof readKeyOptions>

const wrong = (message: string) => wrongUsage(`key-generate: ${message}`)

/** Reads the typed options. @throws CommandFailure for invalid options; no message contains the passphrase. */
export function readKeyOptions(flags: CommandFlags<typeof keyFlags>, environment: NodeJS.ProcessEnv) {
  const type = oneOf('key-generate: --type', flags.type, keyTypes)
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
    /** The name in the spelling of files and of variables: `web-push` and `WEB_PUSH`. */
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
  throw new CommandFailure(`key-generate: the variable ${quoted(variable)} of --passphrase-env is not set or is empty`)
}
