import { expect, test } from 'vitest'
import { makeServer } from './ai-stream.ts'

test('a client that comes back receives the rest, and a model that fails says so', async () => {
  let go = () => {}
  const goesOn = new Promise<void>((resolve) => {
    go = resolve
  })
  await using server = makeServer(async function* (prompt) {
    if (prompt === 'fail') throw new Error('the model is away')
    yield 'Once '
    yield 'upon '
    await goesOn
    yield 'a time'
  })
  const ask = async (prompt: string) => {
    const res = await server.inject.post('/answers', { body: { prompt } })
    return `/answers/${res.assertStatus(202).body<{ id: string }>().id}`
  }
  const path = await ask('a tale')
  go()
  const whole = (await server.inject.get(path)).text()
  expect(whole.match(/"text":"[^"]+"/g)).toEqual(['"text":"Once "', '"text":"upon "', '"text":"a time"'])
  const rest = (await server.inject.get(path, { headers: { 'last-event-id': '2' } })).text()
  expect(rest).toBe('event: piece\nid: 3\ndata: {"text":"a time"}\n\nevent: done\ndata: {}\n\n')
  expect((await server.inject.get(await ask('fail'))).text()).toContain('event: failed')
  ;(await server.inject.get('/answers/none')).assertStatus(404)
})
