import { refuse } from './refusal.ts'

export interface Book {
  readonly id: string
  readonly title: string
  readonly author: string
}

export interface Loan {
  readonly id: string
  readonly book: string
  readonly member: string
  readonly since: string
}

/** An event in the library, as the event stream sends it. */
export interface LibraryEvent {
  readonly kind: 'added' | 'removed' | 'covered' | 'lent' | 'returned'
  readonly book: Book
}

/** The whole state of a library, as plain data. */
export interface Shelf {
  books: Book[]
  loans: Loan[]
  nextId: number
}

export const emptyShelf = (): Shelf => ({ books: [], loans: [], nextId: 1 })

/** A library's books and who has them. It knows the rules, and nothing about HTTP. */
export class Library {
  #shelf: Shelf = emptyShelf()
  readonly #listeners = new Set<(event: LibraryEvent) => void>()

  /** A copy of everything: what a store writes. */
  get shelf(): Shelf {
    return structuredClone(this.#shelf)
  }

  /** Replaces the contents with stored data. */
  open(shelf: Shelf): void {
    this.#shelf = structuredClone(shelf)
  }

  /** Returns all books, or those of one author. */
  books(author?: string): Book[] {
    return this.#shelf.books.filter((book) => author === undefined || book.author === author)
  }

  book(id: string): Book {
    return this.#shelf.books.find((book) => book.id === id) ?? refuse('BookNotFoundError', `there is no book ${id}`)
  }

  add(book: Omit<Book, 'id'>): Book {
    const added = { id: this.#newId(), ...book }
    this.#shelf.books.push(added)
    this.#tell({ kind: 'added', book: added })
    return added
  }

  remove(id: string): void {
    const book = this.book(id)
    if (this.isLent(id)) refuse('BookLentError', `"${book.title}" is lent; it must come back first`)
    this.#shelf.books.splice(this.#shelf.books.indexOf(book), 1)
    this.#tell({ kind: 'removed', book })
  }

  isLent(bookId: string): boolean {
    return this.#shelf.loans.some((loan) => loan.book === bookId)
  }

  /** Announces that a book has a new cover. */
  covered(id: string): void {
    this.#tell({ kind: 'covered', book: this.book(id) })
  }

  /** The loans of one member. */
  loansOf(member: string): Loan[] {
    return this.#shelf.loans.filter((loan) => loan.member === member)
  }

  lend(bookId: string, member: string): Loan {
    const book = this.book(bookId)
    if (this.isLent(bookId)) refuse('BookLentError', `"${book.title}" is lent already`)
    const loan = { id: this.#newId(), book: bookId, member, since: new Date().toISOString() }
    this.#shelf.loans.push(loan)
    this.#tell({ kind: 'lent', book })
    return loan
  }

  /** Takes a book back; a member cannot return what another has borrowed. */
  takeBack(loanId: string, member: string): void {
    const index = this.#shelf.loans.findIndex((loan) => loan.id === loanId && loan.member === member)
    if (index === -1) refuse('LoanNotFoundError', `you have no loan ${loanId}`)
    const [loan] = this.#shelf.loans.splice(index, 1)
    this.#tell({ kind: 'returned', book: this.book(loan!.book) })
  }

  /** Calls the listener for every event until the returned function is called. */
  listen(listener: (event: LibraryEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #newId(): string {
    return String(this.#shelf.nextId++)
  }

  #tell(event: LibraryEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}
