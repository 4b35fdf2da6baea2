import { createVerify, generateKeyPairSync } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { S3StorageProvider, Storage } from 'framework'
import { type TestClock, testClock } from 'framework/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { until } from '../../support/queues.ts'
import { s3Credentials, startS3 } from '../../support/s3.ts'
import { signatureOf } from '../../support/sigv4.ts'

const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const settings = { bucket: 'examplebucket', region: 'us-east-1', credentials }
let clock: TestClock | undefined
const at = (time: string) => {
  clock = testClock(time)
}
afterEach(() => clock?.restore())

test('the check of signatures knows the example that AWS has published', () => {
  const address =
    'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
    '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
    '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host'
  const published = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
  expect(signatureOf('GET', address, credentials.secretAccessKey)).toBe(published)
})

describe.each([
  ['AWS', {}],
  ['a service with its own address', { endpoint: 'https://objects.example.org:9000' }],
  ['a bucket in the host', { endpoint: 'https://objects.example.org', forcePathStyle: false }],
])('addresses of %s', (_name, more) => {
  const storage = new Storage({ s3: new S3StorageProvider({ ...settings, ...more }) })
  const sums = { requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' } as const
  const forcePathStyle = 'endpoint' in more && !('forcePathStyle' in more)
  const client = new S3Client({ region: 'us-east-1', credentials, ...sums, forcePathStyle, ...more })
  const signableHeaders = new Set(['content-type'])
  const Bucket = 'examplebucket'

  test.each([
    'test.txt',
    'a b/ü+&#%?.txt',
    "odd/!'()*",
  ])('of %s are those of the SDK, and rightly signed', async (Key) => {
    at('2013-05-24T00:00:00Z')
    const signingDate = new Date('2013-05-24T00:00:00Z')
    const own = await storage.getDownloadUrl(Key, 86_400)
    expect(own).toBe(
      await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), { expiresIn: 86_400, signingDate }),
    )
    expect(new URL(own).searchParams.get('X-Amz-Signature')).toBe(signatureOf('GET', own, credentials.secretAccessKey))
    const named = await storage.getDownloadUrl(Key, { filename: 'ü "1".txt', disposition: 'inline', expirySeconds: 60 })
    expect(new URL(named).searchParams.get('response-content-disposition')).toBe(
      `inline; filename="_ _1_.txt"; filename*=UTF-8''%C3%BC%20%221%22.txt`,
    )
    expect(new URL(named).searchParams.get('X-Amz-Signature')).toBe(
      signatureOf('GET', named, credentials.secretAccessKey),
    )
    const upload = await storage.getUploadUrl(Key, 60, 'image/png')
    const command = new PutObjectCommand({ Bucket, Key, ContentType: 'image/png' })
    expect(upload).toBe(await getSignedUrl(client, command, { expiresIn: 60, signableHeaders, signingDate }))
    expect(new URL(upload).searchParams.get('X-Amz-Signature')).toBe(
      signatureOf('PUT', upload, credentials.secretAccessKey, { 'content-type': 'image/png' }),
    )
    expect(upload).not.toMatch(/checksum|crc32/i)
    expect(await storage.getPublicUrl(Key)).toBe(own.slice(0, own.indexOf('?')))
  })
})

describe('a CDN', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const url = 'https://d111111abcdef8.cloudfront.net'

  test('signs downloads with its canned policy; public addresses are its own', async () => {
    const cdn = { url: `${url}/`, keyPairId: 'K2JCJMDEHXQW5F', privateKey }
    const storage = new Storage({ s3: new S3StorageProvider({ ...settings, cdn }) })
    at('2026-01-01T00:00:00Z')
    const signed = new URL(await storage.getDownloadUrl('a b/ü.txt', 60))
    expect(signed.origin + signed.pathname).toBe(`${url}/a%20b/%C3%BC.txt`)
    const expires = Date.UTC(2026, 0, 1) / 1000 + 60
    expect(signed.searchParams.get('Expires')).toBe(String(expires))
    expect(signed.searchParams.get('Key-Pair-Id')).toBe('K2JCJMDEHXQW5F')
    const policy = `{"Statement":[{"Resource":"${url}/a%20b/%C3%BC.txt","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`
    const signature = /Signature=([^&]+)/.exec(signed.search)![1]!
    expect(signature).toMatch(/^[\w~-]+$/)
    const base64 = signature.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')
    expect(createVerify('RSA-SHA1').update(policy).verify(publicKey, base64, 'base64')).toBe(true)
    expect(await storage.getPublicUrl('a b')).toBe(`${url}/a%20b`)
    const named = await storage.getDownloadUrl('a', { filename: 'ü.txt', contentType: 'text/css' })
    const resource = named.slice(0, named.indexOf('&Expires'))
    expect(Object.fromEntries(new URL(resource).searchParams)).toEqual({
      'response-content-disposition': `attachment; filename="_.txt"; filename*=UTF-8''%C3%BC.txt`,
      'response-content-type': 'text/css',
    })
    const itsExpiry = { DateLessThan: { 'AWS:EpochTime': expires - 60 + 3600 } }
    const itsPolicy = JSON.stringify({ Statement: [{ Resource: resource, Condition: itsExpiry }] })
    const its = /Signature=([^&]+)/.exec(named)![1]!.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')
    expect(createVerify('RSA-SHA1').update(itsPolicy).verify(publicKey, its, 'base64')).toBe(true)
    expect(await storage.getUploadUrl('a')).toContain('amazonaws.com')
  })

  test('without a key of its own it is where public addresses lead', async () => {
    const storage = new Storage({ s3: new S3StorageProvider({ ...settings, cdn: { url } }) })
    expect(await storage.getPublicUrl('a')).toBe(`${url}/a`)
    expect(await storage.getDownloadUrl('a')).toContain('X-Amz-Signature')
  })

  test.each([
    [{}],
    [{ url: 'no address' }],
    [{ url, keyPairId: 'K' }],
    [{ url, privateKey }],
    [{ url, keyPairId: 'K', privateKey: 'TOP-SECRET' }],
    [{ url, keyPairId: 'K', privateKey: publicKey }],
    [{ url, keyPair: 'K' }],
  ])('options that cannot be meant %#', (cdn) => {
    const make = () => new S3StorageProvider({ ...settings, cdn: cdn as { url: string } })
    expect(make).toThrow(expect.objectContaining({ code: 'OptionError' }))
    expect(make).not.toThrow(/TOP-SECRET/)
  })
})

describe('a service', () => {
  let s3: OwnServer
  let storage: Storage
  beforeAll(async () => {
    s3 = await startS3()
    storage = new Storage({
      s3: new S3StorageProvider({ bucket: 'objects', endpoint: s3.url, credentials: s3Credentials }),
    })
  })
  afterAll(async () => {
    await storage.close()
    await s3.stop()
  })

  /** Sends a file as a browser does, and is as strict as AWS is: the emulator takes every signature. */
  async function send(address: string, type: string | undefined) {
    const headers = { host: new URL(address).host, ...(type !== undefined && { 'content-type': type }) }
    const right = signatureOf('PUT', address, s3Credentials.secretAccessKey, headers)
    if (new URL(address).searchParams.get('X-Amz-Signature') !== right) return 403
    return (await fetch(address, { method: 'PUT', body: new Blob(['picture'], { type: type ?? '' }) })).status
  }

  test.each([
    'image/png',
    'application/pdf',
    'text/html',
    undefined,
  ])('an upload address without a content type takes %s', async (type) => {
    const address = await storage.getUploadUrl('any.png', 60)
    expect(new URL(address).searchParams.get('X-Amz-SignedHeaders')).toBe('host')
    expect(address).not.toMatch(/content-type|octet-stream/i)
    expect(await send(address, type)).toBe(200)
    if (type !== undefined) expect((await storage.metadata('any.png')).contentType).toBe(type)
  })

  test('an upload address with a content type takes no other', async () => {
    const address = await storage.getUploadUrl('picture.png', 60, 'image/png')
    expect(await send(address, 'text/html')).toBe(403)
    expect(await send(address, undefined)).toBe(403)
    expect(await send(address, 'image/png')).toBe(200)
  })

  test('takes them, until they are too old', async () => {
    const upload = await storage.getUploadUrl('by address.png', 60, 'image/png')
    const sent = await fetch(upload, { method: 'PUT', body: 'picture', headers: { 'content-type': 'image/png' } })
    expect(sent.status).toBe(200)
    expect((await storage.metadata('by address.png')).contentType).toBe('image/png')
    const res = await fetch(await storage.getDownloadUrl('by address.png', 60))
    expect([res.status, res.headers.get('content-type'), await res.text()]).toEqual([200, 'image/png', 'picture'])
    const short = await storage.getDownloadUrl('by address.png', 1)
    await until(async () => {
      const late = await fetch(short)
      await late.arrayBuffer()
      return late.status === 403
    }, 'its end')
  })
})
