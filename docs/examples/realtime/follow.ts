import type { Bid } from './auctions.ts'

/** Shows the newest bid, whichever way it comes: in the state that was loaded, or in a message. */
export function follow(
  events: Pick<EventTarget, 'addEventListener'>,
  load: () => Promise<Bid>,
  show: (bid: Bid) => void,
): void {
  let version = -1
  const take = (bid: Bid) => {
    if (bid.version <= version) return
    version = bid.version
    show(bid)
  }
  const reload = async () => take(await load())
  // First join, then load: what happens between the two comes as a message.
  events.addEventListener('channel:joined', reload)
  events.addEventListener('channel:gap', reload)
  events.addEventListener('message', (event) => take(JSON.parse((event as MessageEvent<string>).data).payload))
}
