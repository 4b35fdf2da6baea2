import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { s3Credentials, startS3 } from '../../../test/support/s3.ts'
import { makeServer } from './upload-to-s3.ts'

let s3: OwnServer
let server: ReturnType<typeof makeServer>
beforeAll(async () => {
  s3 = await startS3()
  server = makeServer({ bucket: 'objects', endpoint: s3.url, credentials: s3Credentials })
})
afterAll(async () => {
  await server.close()
  await s3.stop()
})

test('a browser sends a photo to the bucket, and this server moves it', async () => {
  const asked = await server.inject.post('/photos', { body: { type: 'image/png' } })
  const { key, url } = asked.assertStatus(201).body<{ key: string; url: string }>()
  const sent = await fetch(url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'bytes' })
  expect(sent.status).toBe(200)
  const done = await server.inject.put('/photos', { body: { key } })
  const photo = await fetch(done.assertStatus(200).body<{ url: string }>().url)
  expect([photo.headers.get('content-type'), await photo.text()]).toEqual(['image/png', 'bytes'])
  ;(await server.inject.put('/photos', { body: { key } })).assertStatus(404)
})

test('other types, keys of others and missing files are refused', async () => {
  ;(await server.inject.post('/photos', { body: { type: 'text/html' } })).assertStatus(422)
  ;(await server.inject.put('/photos', { body: { key: 'photos/1.png' } })).assertStatus(422)
  ;(await server.inject.put('/photos', { body: { key: `incoming/${randomUUID()}.png` } })).assertStatus(404)
})
