/** What clients send and get, as JSON Schema: one place for types, checks and answers. */

const id = { type: 'string' } as const
/** Text of clients that the database keeps or compares. Postgres refuses a NUL, and no title has other control characters. */
const line = { type: 'string', maxLength: 200, pattern: '^\\P{Cc}*$' } as const
const text = { ...line, minLength: 1, allOf: [{ pattern: '\\S' }] } as const

export const NewBook = {
  type: 'object',
  properties: { title: text, author: text },
  required: ['title', 'author'],
  additionalProperties: false,
} as const

export const BookCard = {
  type: 'object',
  properties: { id, title: { type: 'string' }, author: { type: 'string' } },
  required: ['id', 'title', 'author'],
} as const

export const BookPage = {
  type: 'object',
  properties: { ...BookCard.properties, available: { type: 'boolean' } },
  required: ['id', 'title', 'author', 'available'],
} as const

export const BookCards = { type: 'array', items: BookCard } as const

export const BookQuery = {
  type: 'object',
  properties: { author: line, limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
  required: ['limit'],
} as const

export const Authors = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, books: { type: 'integer' } },
    required: ['name', 'books'],
  },
} as const

/** Personal data: logs, the inspector and the pages of queues redact it. `framework access --data` lists where it flows. */
const email = { type: 'string', format: 'email', maxLength: 254, sensitive: true } as const

/** The receipt goes to the address of the borrower, or else to the desk. */
export const NewLoan = { type: 'object', properties: { book: line, email }, required: ['book'] } as const

export const Receipt = {
  type: 'object',
  properties: { title: { type: 'string' }, at: { type: 'string' }, email },
  required: ['title', 'at'],
} as const

/** Who has borrowed a book is no one else's business: the schema leaves the member out, so it is never sent. */
export const Loan = {
  type: 'object',
  properties: { id, book: id, since: { type: 'string', format: 'date-time' } },
  required: ['id', 'book', 'since'],
} as const
