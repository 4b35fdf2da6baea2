import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { StorageBody, StorageEntry, StorageMetadata, StorageProvider } from 'framework'
import type { Pool } from 'pg'

/** The collation "C" sorts keys by their bytes, the order in which all providers list them. */
export const objectTable = `create table if not exists objects (
  key text collate "C" primary key, bytes bytea not null, type text not null,
  modified timestamptz not null default now(), tag uuid not null default gen_random_uuid())`

const columns = 'key, length(bytes) as size, type, modified, tag'
const entryOf = (row: Record<string, unknown>): StorageEntry => ({
  key: row.key as string,
  size: row.size as number,
  lastModified: row.modified as Date,
  etag: `"${row.tag}"`,
})

/** Keeps small objects in a table, in the same backup as the rows that refer to them. Each is held in memory whole. */
export class PostgresObjects implements StorageProvider {
  readonly noUrls = 'Objects in a table have no address'
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Reads the stream before it writes the row, so a stream that fails leaves the existing object as it was. */
  async put(key: string, body: StorageBody, contentType: string) {
    const bytes = body instanceof Uint8Array ? body : await buffer(body)
    await this.#pool.query(
      `insert into objects values ($1, $2, $3) on conflict (key) do update
       set bytes = excluded.bytes, type = excluded.type, modified = now(), tag = gen_random_uuid()`,
      [key, bytes, contentType],
    )
  }

  async read(key: string) {
    const { rows } = await this.#pool.query('select bytes from objects where key = $1', [key])
    return rows[0] && Readable.from([rows[0].bytes as Buffer], { objectMode: false })
  }

  async remove(key: string) {
    await this.#pool.query('delete from objects where key = $1', [key])
  }

  async head(key: string): Promise<StorageMetadata | undefined> {
    const { rows } = await this.#pool.query(`select ${columns} from objects where key = $1`, [key])
    return rows[0] && { ...entryOf(rows[0]), contentType: rows[0].type as string }
  }

  /** Lists page by page, so a million keys are never in memory together. */
  async *list(prefix: string): AsyncGenerator<StorageEntry> {
    let after = ''
    while (true) {
      const { rows } = await this.#pool.query(
        `select ${columns} from objects where starts_with(key, $1) and key > $2 order by key limit 1000`,
        [prefix, after],
      )
      yield* rows.map(entryOf)
      if (rows.length < 1000) return
      after = rows.at(-1)!.key as string
    }
  }

  async copy(from: string, to: string) {
    const { rowCount } = await this.#pool.query(
      `insert into objects select $2, bytes, type from objects where key = $1 on conflict (key) do update
       set bytes = excluded.bytes, type = excluded.type, modified = now(), tag = gen_random_uuid()`,
      [from, to],
    )
    return rowCount === 1
  }

  async ping() {
    await this.#pool.query('select 1')
  }
}
