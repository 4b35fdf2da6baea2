import type { Writable } from 'node:stream'
import { inOneWrite } from '../../shared/values/one-write.ts'

/** One message of QoS 1 or 2 that is being handled. */
interface Open {
  wire: Writable
  isHandled: boolean
}

const puback = 0x40
const pubrec = 0x50

/** An acknowledgement of success, which is the same in MQTT 3.1.1 and 5. */
function acknowledge(wire: Writable, type: number, id: number): void {
  // As the client does with other packets.
  inOneWrite(wire)
  wire.write(Uint8Array.of(type, 2, id >> 8, id & 0xff))
}

/**
 * Acknowledges messages when they have been handled, in any order: a slow handler must not delay the acknowledgements of
 * others.
 *
 * For QoS 2, the PUBREC waits: the broker repeats a message that is lost before the PUBREC, and never one after it.
 */
export class Acks {
  readonly #open = new Map<number, Open>()
  /** Numbers of QoS 2 messages between PUBREC and PUBREL: a message with one of them is a duplicate. */
  readonly #received = new Set<number>()

  /** Returns the function to call once the message is handled; `undefined` for a duplicate. */
  take(wire: Writable, qos: 1 | 2, id: number, duplicate: boolean): (() => void) | undefined {
    const type = qos === 1 ? puback : pubrec
    if (qos === 2 && this.#received.has(id)) {
      acknowledge(wire, type, id)
      return undefined
    }
    const there = this.#open.get(id)
    if (there !== undefined && duplicate) {
      // It first came over a connection that was lost while the handler ran; the response is sent over this one.
      there.wire = wire
      if (there.isHandled) this.#finish(there, type, id)
      return undefined
    }
    const open: Open = { wire, isHandled: false }
    this.#open.set(id, open)
    return () => {
      open.isHandled = true
      if (this.#open.get(id) === open && open.wire === this.#current) this.#finish(open, type, id)
    }
  }

  #current: Writable | undefined

  #finish(open: Open, type: number, id: number): void {
    this.#open.delete(id)
    if (type === pubrec) this.#received.add(id)
    acknowledge(open.wire, type, id)
  }

  /** PUBREL: the broker has forgotten the message. */
  release(id: number): void {
    this.#received.delete(id)
  }

  /** Notes a new connection; unless the session continues, the numbers of the last one are invalid. */
  connected(wire: Writable, resumed: boolean): void {
    this.#current = wire
    if (resumed) return
    this.#open.clear()
    this.#received.clear()
  }

  disconnected(): void {
    this.#current = undefined
  }
}
