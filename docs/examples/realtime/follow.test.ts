import { expect, test } from 'vitest'
import type { Bid } from './auctions.ts'
import { follow } from './follow.ts'

const bid = (version: number): Bid => ({ bidder: 'ada', amount: version * 10, version })

test('a bid that comes while the state is loaded is neither lost nor undone', async () => {
  const events = new EventTarget()
  const shown: number[] = []
  let answer = (_state: Bid) => {}
  const load = () =>
    new Promise<Bid>((resolve) => {
      answer = resolve
    })
  follow(events, load, ({ version }) => void shown.push(version))

  events.dispatchEvent(new Event('channel:joined'))
  events.dispatchEvent(new MessageEvent('message', { data: JSON.stringify({ id: 'a', payload: bid(2) }) }))
  answer(bid(1))
  await new Promise((resolve) => setTimeout(resolve))
  events.dispatchEvent(new MessageEvent('message', { data: JSON.stringify({ id: 'b', payload: bid(3) }) }))
  expect(shown).toEqual([2, 3])
})
