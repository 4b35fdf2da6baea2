import { randomUUID } from 'node:crypto'
import { afterCommit, type DatabaseClient } from 'framework'
import { refuse } from './refusal.ts'

export interface Book {
  readonly id: string
  readonly title: string
  readonly author: string
  /** Whether no one has borrowed it. */
  readonly available: boolean
}

export interface Loan {
  readonly id: string
  readonly book: string
  readonly member: string
  readonly since: string
}

/** A book that should have come back. */
export interface Overdue {
  readonly title: string
  readonly member: string
}

/** An event in the library, as the event stream sends it. */
export interface LibraryEvent {
  readonly kind: 'added' | 'removed' | 'covered' | 'lent' | 'returned'
  readonly book: Book
}

const books = `select books.id, title, author, loans.id is null as available
  from books left join loans on loans.book = books.id`

/** A library's books and who has them. It knows the rules, and nothing about HTTP. */
export class Library {
  #database: DatabaseClient | undefined
  readonly #listeners = new Set<(event: LibraryEvent) => void>()

  /** Takes the database in which the library is. */
  open(database: DatabaseClient): void {
    this.#database = database
  }

  /** Returns all books, or those of one author. */
  books(author?: string): Promise<Book[]> {
    return author === undefined
      ? this.#books('order by added, books.id')
      : this.#books('where author = $1 order by added, books.id', [author])
  }

  async book(id: string): Promise<Book> {
    return (await this.find(id)) ?? refuse('BookNotFoundError', `there is no book ${id}`)
  }

  async find(id: string): Promise<Book | undefined> {
    return (await this.#books('where books.id = $1', [id]))[0]
  }

  async add({ title, author }: Pick<Book, 'title' | 'author'>): Promise<Book> {
    const book = { id: randomUUID(), title, author, available: true }
    const added = new Date().toISOString()
    const text = 'insert into books (id, title, author, added) values ($1, $2, $3, $4)'
    await this.#query(text, [book.id, title, author, added])
    await this.#changed('added', book)
    return book
  }

  async remove(id: string): Promise<void> {
    const book = await this.#hold(id)
    if (!book.available) refuse('BookLentError', `"${book.title}" is lent; it must come back first`)
    await this.#query('delete from books where id = $1', [id])
    await this.#changed('removed', book)
  }

  /** Announces that a book has a new cover. */
  async covered(id: string): Promise<void> {
    await this.#changed('covered', await this.book(id))
  }

  /** The loans of one member. */
  async loansOf(member: string): Promise<Loan[]> {
    return (await this.#query<Loan>('select * from loans where member = $1 order by since', [member])).rows
  }

  /** The ids of the books that are lent. */
  async lent(): Promise<string[]> {
    return (await this.#query<{ book: string }>('select book from loans')).rows.map(({ book }) => book)
  }

  /** The books that someone has had since before that time. */
  async overdue(since: Date): Promise<Overdue[]> {
    const text = 'select title, member from loans join books on books.id = loans.book where since < $1 order by since'
    return (await this.#query<Overdue>(text, [since.toISOString()])).rows
  }

  async lend(bookId: string, member: string): Promise<{ loan: Loan; book: Book }> {
    const book = await this.#hold(bookId)
    if (!book.available) refuse('BookLentError', `"${book.title}" is lent already`)
    const loan = { id: randomUUID(), book: bookId, member, since: new Date().toISOString() }
    const text = 'insert into loans (id, book, member, since) values ($1, $2, $3, $4)'
    await this.#query(text, [loan.id, bookId, member, loan.since])
    await this.#changed('lent', { ...book, available: false })
    return { loan, book }
  }

  /** Takes a book back; a member cannot return what another has borrowed. */
  async takeBack(loanId: string, member: string): Promise<void> {
    const text = 'delete from loans where id = $1 and member = $2 returning book'
    const [loan] = (await this.#query<{ book: string }>(text, [loanId, member])).rows
    if (loan === undefined) return refuse('LoanNotFoundError', `you have no loan ${loanId}`)
    await this.#changed('returned', await this.book(loan.book))
  }

  /** Calls the listener for every event until the returned function is called. */
  listen(listener: (event: LibraryEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Returns a book that no one else borrows or removes before the transaction ends: a statement that changes nothing locks the row. SQLite, which
   * has no `for update`, has one transaction at a time.
   */
  async #hold(id: string): Promise<Book> {
    await this.#query('update books set title = title where id = $1', [id])
    return this.book(id)
  }

  async #books(rest: string, values: readonly string[] = []): Promise<Book[]> {
    const { rows } = await this.#query<Book>(`${books} ${rest}`, values)
    // SQLite has no booleans, but 1 and 0.
    return rows.map((book) => ({ ...book, available: Boolean(book.available) }))
  }

  #query<Row extends object>(text: string, values: readonly unknown[] = []) {
    if (this.#database === undefined) throw new Error('the library opens when the server boots')
    return this.#database.query<Row>(text, values)
  }

  /** No one hears of a change that is rolled back. */
  #changed(kind: LibraryEvent['kind'], book: Book): Promise<void> {
    return afterCommit(() => {
      for (const listener of this.#listeners) listener({ kind, book })
    })
  }
}
