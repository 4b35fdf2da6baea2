export interface Book {
  readonly id: string
  readonly title: string
  readonly year?: number
}

/** Thrown when there is no such book. It knows nothing about HTTP. */
export class UnknownBook extends Error {
  override readonly name = 'UnknownBook'

  constructor(id: string) {
    super(`There is no book ${id}`)
  }
}

export class Books {
  readonly #books = new Map<string, Book>([['1', { id: '1', title: 'Emma', year: 1815 }]])

  list(): Book[] {
    return [...this.#books.values()]
  }

  find(id: string): Book {
    const book = this.#books.get(id)
    if (book === undefined) throw new UnknownBook(id)
    return book
  }

  add(book: Omit<Book, 'id'>): Book {
    const id = String(this.#books.size + 1)
    this.#books.set(id, { id, ...book })
    return this.find(id)
  }
}
