import type { Redis } from 'ioredis'

/** A client as its documentation makes it. */
export async function redisByHand(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis')
  return new Redis(url)
}
