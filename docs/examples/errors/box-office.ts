/** Thrown when a rule of the box office says no. It knows nothing about HTTP. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly reason: 'ShowNotFoundError' | 'SoldOutError'
  readonly details: { readonly left?: number }

  constructor(reason: Refusal['reason'], message: string, details: Refusal['details'] = {}) {
    super(message)
    this.reason = reason
    this.details = details
  }
}

export class BoxOffice {
  readonly #left = new Map([
    ['hamlet', 2],
    ['tosca', 0],
  ])

  sell(show: string, seats: number) {
    const left = this.#left.get(show)
    if (left === undefined) throw new Refusal('ShowNotFoundError', `There is no show ${show}`)
    if (left < seats) throw new Refusal('SoldOutError', `${show} has ${left} seats left`, { left })
    this.#left.set(show, left - seats)
    return { show, seats }
  }
}
