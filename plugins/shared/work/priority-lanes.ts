/** First in, first out. */
class Lane<Message> {
  #list: (Message | undefined)[] = []
  #head = 0

  get isEmpty(): boolean {
    return this.#head === this.#list.length
  }

  get first(): Message {
    return this.#list[this.#head]!
  }

  add(message: Message): void {
    this.#list.push(message)
  }

  take(): Message {
    const message = this.#list[this.#head]!
    this.#list[this.#head++] = undefined
    // `shift` would move the rest each time; this moves it rarely.
    if (this.#head > 1000 && this.#head * 2 > this.#list.length) {
      this.#list.splice(0, this.#head)
      this.#head = 0
    }
    return message
  }
}

/** A lane for each priority; the lowest number first, as in the engines that have them. */
export class Waiting<Message extends { readonly priority: number }> {
  readonly #lanes = new Map<number, Lane<Message>>()
  /** The priorities, the most urgent last: an empty lane is removed from the end. */
  readonly #order: number[] = []
  size = 0

  add(message: Message): void {
    let lane = this.#lanes.get(message.priority)
    if (lane === undefined) {
      lane = new Lane()
      this.#lanes.set(message.priority, lane)
      this.#order.splice(this.#placeOf(message.priority), 0, message.priority)
    }
    lane.add(message)
    this.size++
  }

  #placeOf(priority: number): number {
    let [from, to] = [0, this.#order.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#order[middle]! > priority) from = middle + 1
      else to = middle
    }
    return from
  }

  take(): Message | undefined {
    while (this.size > 0) {
      const lane = this.#lanes.get(this.#order.at(-1)!)!
      const message = lane.isEmpty ? undefined : lane.take()
      // The last lane stays while it is empty: most queues have one priority, so the next message needs it again.
      if (lane.isEmpty && this.#order.length > 1) this.#lanes.delete(this.#order.pop()!)
      if (message !== undefined) {
        this.size--
        return message
      }
    }
    return undefined
  }

  /** The next message of each priority. */
  *heads(): Generator<Message> {
    for (const lane of this.#lanes.values()) if (!lane.isEmpty) yield lane.first
  }

  clear(): void {
    this.#lanes.clear()
    this.#order.length = 0
    this.size = 0
  }
}
