import { expect, test } from 'vitest'
import { makeServer } from './admin-page.ts'

test('staff sees the pages, and no one else', async () => {
  await using server = makeServer(new Map([['ada', 'a long password']]))
  const headers = (name: string, password: string) => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` },
  })
  for (const path of ['/admin', '/admin/queues', '/admin/jobs', '/admin/docs']) {
    ;(await server.inject.get(path)).assertStatus(401).assertHeader('www-authenticate', /Basic realm="admin"/)
    ;(await server.inject.get(path, headers('ada', 'a guess'))).assertStatus(401)
    ;(await server.inject.get(path, headers('ada', 'a long password'))).assertStatus(200)
  }
  const page = await server.inject.get('/admin', headers('ada', 'a long password'))
  expect(page.text()).toContain('<li>&#60;i&#62;Emma&#60;/i&#62;</li>')
})
