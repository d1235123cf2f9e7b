"""Cues and themes in, a local web page out that shows the murals as they are edited.

    sources    where the cues come from, and which files to watch for it
    studio     draws what is looked at, again whenever a file of it changes
    views      what the page gets of that, as JSON
    server     the page, on the loopback interface only, behind a token

The page itself (page.html, page.css, page.js) is data; it loads nothing from elsewhere.
"""
