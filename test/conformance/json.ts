import type { Agent } from 'node:http'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { accepted, type JsonCase, open, refused } from './json-corpus.ts'

/** Every kind of text that is JSON, that is not, and that may be either. */
export function describeJson(agent: Agent, port: () => number): void {
  const post = ({ bytes }: JsonCase) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
      const options = { agent, host: '127.0.0.1', port: port(), method: 'POST', path: '/json/checked', headers }
      const sending = request(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sending.on('error', reject).end(bytes)
    })
  const all = async <Case extends JsonCase, Outcome>(cases: readonly Case[], look: (one: Case) => Promise<Outcome>) => {
    const outcomes: [string, Outcome][] = []
    for (let i = 0; i < cases.length; i += 20) {
      const part = cases.slice(i, i + 20)
      outcomes.push(
        ...(await Promise.all(part.map(async (one): Promise<[string, Outcome]> => [one.name, await look(one)]))),
      )
    }
    return outcomes
  }

  test(`BO-01 takes what is JSON, and gives the same value on (${accepted.length} texts)`, async () => {
    const outcomes = await all(accepted, async (one) => {
      const { status, text } = await post(one)
      return [status, text]
    })
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    expect(outcomes).toEqual(
      accepted.map(({ name, bytes }) => [name, [200, JSON.stringify({ body: JSON.parse(decoder.decode(bytes)) })]]),
    )
  })

  test(`BO-01 refuses what is not JSON with 400 (${refused.length} texts)`, async () => {
    const outcomes = await all(refused, async (one) => {
      const { status, text } = await post(one)
      return [status, text.slice(0, 27)]
    })
    expect(outcomes).toEqual(refused.map(({ name }) => [name, [400, '{"code":"JsonNotValidError"']]))
  })

  test(`BO-01 answers what may be either alike on every runtime (${open.length} texts)`, async () => {
    const outcomes = await all(open, async (one) => (await post(one)).status)
    expect(outcomes).toEqual(open.map(({ name, status }) => [name, status]))
  })
}
