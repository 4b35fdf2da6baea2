/**
 * The used part of a client of ioredis. Its own type has thousands of overloads: compared with them, the cache alone cost the
 * type checker 245 000 instantiations.
 */
export interface RedisClient {
  getBuffer(key: string): Promise<Buffer | null>
  eval(script: string, keys: number, ...keysAndArguments: (string | number | Buffer)[]): Promise<unknown>
  /** Any command; string answers come as bytes. */
  callBuffer(command: string, ...rest: (string | number | Buffer)[]): Promise<unknown>
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    size: number,
  ): Promise<[cursor: string, keys: string[]]>
  unlink(...keys: string[]): Promise<number>
  ping(): Promise<string>
  quit(): Promise<unknown>
  connect(): Promise<unknown>
  disconnect(): void
  on(event: 'error', listener: (error: unknown) => void): unknown
}
