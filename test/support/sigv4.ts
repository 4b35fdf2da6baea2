import { createHash, createHmac } from 'node:crypto'

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The signature that a presigned address must have by AWS Signature Version 4, computed from the address itself. */
export function signatureOf(
  method: string,
  address: string,
  secret: string,
  headers: Record<string, string> = {},
): string {
  const url = new URL(address)
  const all: Record<string, string> = { host: url.host, ...headers }
  const signed = url.searchParams.get('X-Amz-SignedHeaders')!
  const pairs = url.search
    .slice(1)
    .split('&')
    .filter((pair) => !pair.startsWith('X-Amz-Signature='))
    .sort()
  const lines = signed.split(';').map((name) => `${name}:${all[name]}\n`)
  const canonical = [method, url.pathname, pairs.join('&'), lines.join(''), signed, 'UNSIGNED-PAYLOAD'].join('\n')
  const date = url.searchParams.get('X-Amz-Date')!
  const scope = url.searchParams.get('X-Amz-Credential')!.split('/').slice(1)
  const hash = createHash('sha256').update(canonical).digest('hex')
  const toSign = ['AWS4-HMAC-SHA256', date, scope.join('/'), hash].join('\n')
  const key = scope.reduce<string | Buffer>((key, part) => hmac(key, part), `AWS4${secret}`)
  return hmac(key, toSign).toString('hex')
}
