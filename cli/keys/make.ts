import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

export const keyTypes = ['rsa', 'ed25519', 'secret'] as const
export type KeyType = (typeof keyTypes)[number]

/** The made key: a pair as PEM (PKCS #8 and SPKI), or a string of 256 random bits. */
export type Made = { readonly privateKey: string; readonly publicKey: string } | { readonly secret: string }

const generate = promisify(generateKeyPair)

/** Bits of RSA keys: 3072 is as strong as AES-128 and is expected to stay so beyond 2030; 2048 is the minimum accepted everywhere. */
export const rsaBits = { least: 2048, usual: 3072, most: 8192 } as const

type Rules = { readonly bits: number | undefined; readonly passphrase?: string | undefined }

export async function makeKeys(type: KeyType, { bits = rsaBits.usual, passphrase }: Rules): Promise<Made> {
  if (type === 'secret') return { secret: randomBytes(32).toString('base64url') }
  const publicKeyEncoding = { type: 'spki', format: 'pem' } as const
  const privateKeyEncoding = {
    type: 'pkcs8',
    format: 'pem',
    ...(passphrase !== undefined && { cipher: 'aes-256-cbc', passphrase }),
  } as const
  return type === 'rsa'
    ? generate('rsa', { modulusLength: bits, publicKeyEncoding, privateKeyEncoding })
    : generate('ed25519', { publicKeyEncoding, privateKeyEncoding })
}

/** The variables of a key, whose names begin with this. */
export function variablesOf({ variable }: { readonly variable: string }, made: Made): Record<string, string> {
  if ('secret' in made) return { [`${variable}_SECRET`]: made.secret }
  return { [`${variable}_PRIVATE_KEY`]: made.privateKey, [`${variable}_PUBLIC_KEY`]: made.publicKey }
}
