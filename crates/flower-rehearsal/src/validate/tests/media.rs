//! Images and documents.

use super::*;

#[test]
fn images_are_what_they_say() {
    let gif = |width: u16| {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(1u16.to_le_bytes());
        bytes
    };
    let image = |media_type: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}});
    let encoded = |bytes: &[u8]| crate::base64::encode(bytes);
    let one = |image: Value| messages(&[user(json!([image]))]);
    let path = "messages.0.content.0.image.source.base64";
    check(&[
        (one(image("image/gif", &encoded(&gif(8000)))), "ok"),
        (
            one(image("image/gif", &encoded(&gif(8001)))),
            &format!("{path}.data: At least one of the image dimensions"),
        ),
        (one(image("image/gif", "%%%")), &format!("{path}.data: invalid base64 data")),
        (one(image("image/gif", "")), &format!("{path}.data: invalid base64 data")),
        (one(image("image/bmp", &encoded(&gif(1)))), &format!("{path}.media_type: Input should be")),
        (
            one(image("image/png", &encoded(&gif(1)))),
            &format!("{path}.data: Image does not match the provided media type image/png"),
        ),
        (one(image("image/png", &encoded(b"no image"))), "Could not process image"),
        (
            one(image("image/gif", &encoded(&[gif(1), vec![0; 5 * 1024 * 1024]].concat()))),
            &format!("{path}: image exceeds 5 MB maximum"),
        ),
        (one(json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}})), "ok"),
        (
            one(json!({"type": "image", "source": {"type": "url", "url": "http://example.com/a.png"}})),
            "messages.0.content.0.image.source.url.url: Only HTTPS URLs are supported.",
        ),
        (
            one(json!({"type": "document", "source": {"type": "url", "url": "file:///a.pdf"}})),
            "messages.0.content.0.document.source.url.url: Only HTTPS URLs are supported.",
        ),
        (
            one(json!({"type": "image", "source": {"type": "x"}})),
            "messages.0.content.0.image.source: Input tag 'x'",
        ),
    ]);
    let many: Vec<_> = (0..21).map(|_| image("image/gif", &encoded(&gif(2001)))).collect();
    check(&[(messages(&[user(many)]), &format!("{path}.data: At least one of the image dimensions"))]);
    let inner = json!({"type": "tool_result", "tool_use_id": "a", "content": [image("image/png", &encoded(&gif(1)))]});
    check(&[(
        messages(&[user("x"), assistant(json!([call("a")])), user(json!([inner]))]),
        "messages.2.content.0.tool_result.content.0.image.source.base64.data: Image does not match",
    )]);
}

#[test]
fn documents_are_pdfs() {
    let pdf = |media_type: &str, data: &str| {
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        messages(&[user(json!([{"type": "document", "source": source}]))])
    };
    let path = "messages.0.content.0.document.source.base64";
    check(&[
        (pdf("application/pdf", &crate::base64::encode(b"%PDF-1.7")), "ok"),
        (
            pdf("application/pdf", &crate::base64::encode(b"text")),
            &format!("{path}.data: The PDF specified was not valid."),
        ),
        (pdf("text/html", "Zg=="), &format!("{path}.media_type: Input should be 'application/pdf'")),
    ]);
}

#[test]
fn images_and_pages_are_not_too_many() {
    let dot = json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif",
        "data": crate::base64::encode(b"GIF89a\x01\0\x01\0")}});
    let pdf = |pages: usize| {
        let data = crate::base64::encode(format!("%PDF-1.7 {}", "/Type /Page ".repeat(pages)).as_bytes());
        json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}})
    };
    let ask = |model: &str, blocks: Vec<Value>| {
        let mut body = messages(&[user(blocks)]);
        body["model"] = model.into();
        body
    };
    check(&[
        (ask(MODEL, vec![dot.clone(); 100]), "ok"),
        (ask(MODEL, vec![dot.clone(); 101]), "Too many images: 101 > 100"),
        (ask("claude-opus-5-5", vec![dot.clone(); 101]), "ok"),
        (ask("claude-opus-5-5", vec![dot; 601]), "Too many images: 601 > 600"),
        (ask("claude-opus-5-5", vec![pdf(60), pdf(60)]), "ok"),
        (ask(MODEL, vec![pdf(60), pdf(60)]), "A maximum of 100 PDF pages may be provided."),
    ]);
}
