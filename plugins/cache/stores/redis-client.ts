/**
 * The part of an ioredis client that is used here. The client's own type has thousands of overloads: comparing with them cost the
 * type checker 245 000 instantiations for the cache alone.
 */
export interface RedisClient {
  getBuffer(key: string): Promise<Buffer | null>
  eval(script: string, keys: number, ...keysAndArguments: (string | number | Buffer)[]): Promise<unknown>
  /** Sends any command; replies that are strings arrive as bytes. */
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
