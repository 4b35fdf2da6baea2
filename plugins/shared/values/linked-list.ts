/** A member of a list, which knows its neighbours: it is removed without a search. */
export interface Linked {
  /** The one that was added after it. */
  next: this | undefined
  /** The one that was added before it. */
  previous: this | undefined
}

/** Members one after the other, the oldest first, linked by themselves: a set would cost a tenth of the time of a message of a queue. */
export class LinkedList<Member extends Linked> {
  first: Member | undefined
  last: Member | undefined
  size = 0

  add(member: Member): void {
    member.previous = this.last
    if (this.last === undefined) this.first = member
    else this.last.next = member
    this.last = member
    this.size++
  }

  delete(member: Member): void {
    const { previous, next } = member
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    member.previous = member.next = undefined
    this.size--
  }

  *[Symbol.iterator](): Generator<Member> {
    for (let one = this.first; one !== undefined; one = one.next) yield one
  }
}
