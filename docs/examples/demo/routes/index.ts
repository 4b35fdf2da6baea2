// Importing a file of routes declares the routes; every server of this process serves them.
import './authors.ts'
import './books.ts'
import './covers.ts'
import './events.ts'
import './home.ts'
import './list.ts'
import './live.ts'
import './loans.ts'
