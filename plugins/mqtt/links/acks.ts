/** The part of a connection that takes bytes. */
export interface Wire {
  write(bytes: Uint8Array): unknown
}

/** One message of QoS 1 or 2 that is being handled. */
interface Open {
  wire: Wire
  isHandled: boolean
}

const puback = 0x40
const pubrec = 0x50

/** An acknowledgement of success, which is the same in MQTT 3.1.1 and 5. */
function acknowledge(wire: Wire, type: number, id: number): void {
  wire.write(Uint8Array.of(type, 2, id >> 8, id & 0xff))
}

/**
 * Acknowledges messages when they have been handled, in whatever order that is: a slow handler must not hold up what others
 * have done.
 *
 * For QoS 2 it is PUBREC that waits: what is lost before comes again, and nothing comes again behind it.
 */
export class Acks {
  readonly #open = new Map<number, Open>()
  /** Of QoS 2, between PUBREC and PUBREL: whatever has one of these numbers is the same message. */
  readonly #received = new Set<number>()

  /** What to call when the message was handled; `undefined` for one that has been or is being handled already. */
  take(wire: Wire, qos: 1 | 2, id: number, duplicate: boolean): (() => void) | undefined {
    const type = qos === 1 ? puback : pubrec
    if (qos === 2 && this.#received.has(id)) {
      acknowledge(wire, type, id)
      return undefined
    }
    const there = this.#open.get(id)
    if (there !== undefined && duplicate) {
      // It came over a connection that was lost while the handler ran; the answer goes over this one.
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

  #current: Wire | undefined

  #finish(open: Open, type: number, id: number): void {
    this.#open.delete(id)
    if (type === pubrec) this.#received.add(id)
    acknowledge(open.wire, type, id)
  }

  /** PUBREL: the broker has forgotten the message. */
  release(id: number): void {
    this.#received.delete(id)
  }

  /** A connection is there; unless the session goes on, the numbers of the last one mean nothing any more. */
  connected(wire: Wire, resumed: boolean): void {
    this.#current = wire
    if (resumed) return
    this.#open.clear()
    this.#received.clear()
  }

  disconnected(): void {
    this.#current = undefined
  }
}
