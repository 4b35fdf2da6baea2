import { definePlugin, HttpError } from 'framework'

/** What the application needs from the service for exchange rates, and no more. */
export interface Rates {
  toEuro(amount: number, currency: string): Promise<number>
}

export class HttpRates implements Rates {
  readonly #url: string
  readonly #send: (request: Request) => Promise<Response> | Response

  constructor(url: string, send: (request: Request) => Promise<Response> | Response = fetch) {
    this.#url = url
    this.#send = send
  }

  async toEuro(amount: number, currency: string) {
    const url = `${this.#url}/rates/${encodeURIComponent(currency)}`
    const res = await this.#send(new Request(url, { signal: AbortSignal.timeout(2000) }))
    if (!res.ok)
      throw new HttpError(502, { code: 'RatesUnavailableError', cause: new Error(`${url} is ${res.status}`) })
    const { euro } = (await res.json()) as { euro: number }
    return amount * euro
  }
}

declare module 'framework' {
  interface Services {
    rates: Rates
  }
}

export const rates = definePlugin({
  name: 'rates',
  provide: ({ client }: { client: Rates }) => ({ rates: client }),
})
